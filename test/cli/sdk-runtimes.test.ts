import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transform } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandOf, targets } from '../conformance/targets.ts'
import { hasChromium, startChromium } from '../support/chromium.ts'
import { framework } from '../support/cli/fresh.ts'
import { type Ended, makeProject, type Project, runIn } from '../support/cli.ts'
import { startProgram } from '../support/docs/program.ts'
import { isLong } from '../support/long.ts'

const invalidName = { code: 'no-such-user' }
const expected = {
  found: ['Ada', 'admin', true],
  missing: 'no-such-user',
  created: { id: 7, name: 'Grace', born: '1906-12-09T00:00:00Z', role: 'guest' },
  invalid: ['/name'],
  thrown: ['ApiError', 404, invalidName, 'GET /users/404 was answered with 404'],
  asked: 'a',
  denied: 401,
  removed: [204, true],
  search: { tags: ['a&b', 'ü', ''], exact: false, limit: 10 },
  one: { tags: ['only one'], limit: 3 },
  tree: true,
  keyed: 'k',
  posts: [{ id: 'none' }, { id: '5' }],
  echo: true,
  refused: ['TypeError', 'TypeError', 'TypeError'],
  files: [{ path: 'a/b c/d.txt' }, { path: '' }],
  upload: [['files', 5]],
  form: { files: [['cover', 'cover.png', 3]], fields: { note: 'hi' } },
  text: 'grüß dich',
  bytes: [0, 255],
  events: 'event: hello\ndata: 1\n\n',
  undeclared: [false, 418, { teapot: true }],
  aborted: 'AbortError',
  timeout: 'TimeoutError',
  sockets: {
    room: [['a/ü,Ada,no device,v2', 3, 'InvalidMessageError'], { code: 1000, reason: 'bye' }, false],
    late: '/rooms/a%2F%C3%BC has ended: bye',
    repeat: ['grüß', [0, 255], '{"a":1}'],
    refused: ['SocketError', 1008, 'no more'],
    full: '/repeat is not connected, and 1 messages wait already',
    again: ['again', [false, true]],
    closed: 1000,
    denied: ['SocketError', '/closed has ended with 1006'],
    stopped: true,
  },
  names: ['/constructor', '/then', '/get', "/it's", '/gr%C3%B6%C3%9Fe', '/aB', '/a-b', '/class/x', '/toString'],
}

// With one version of Node.js; the long run has all.
const runtimes = targets.filter(({ adapter, runtime }) => adapter === undefined && (isLong || runtime !== 'node26'))

let project: Project
let onThis: Ended
beforeAll(async () => {
  project = makeProject({ 'talks.ts': "console.log('starting')\nexport { server } from './src/server.ts'\n" }, [
    'zod',
    'typebox',
    'ws',
  ])
  cpSync(join(import.meta.dirname, 'fixtures/shop'), project.folder, { recursive: true })
  expect((await framework(project.folder, ['generate-sdk'])).code).toBe(0)
  onThis = await framework(project.folder, ['generate-sdk', '--dry-run', '--entry', 'talks.ts'])
  for (const name of ['server', 'sdk', 'scenario', 'run', 'page']) {
    const source = readFileSync(join(project.folder, `src/${name}.ts`), 'utf8')
    const { code } = await transform(source, { loader: 'ts', target: 'es2022' })
    writeFileSync(join(project.folder, `src/${name}.js`), code)
  }
})
afterAll(() => project.remove())

test.concurrent.each(
  runtimes.map((target) => [target.name, target] as const),
)('server and client on %s', async (_name, target) => {
  const ended = await runIn(project.folder, [...commandOf(target), 'src/run.js'])
  // Deno has something to say about the signals of its requests.
  expect(ended.stderr.replace(/^Deno\.serve: request\.signal.*\n+/m, '')).toBe('')
  expect(JSON.parse(ended.stdout)).toEqual({ ...expected, inProcess: 200, device: '5,B,d1,v1', lacking: true })
})

test.concurrent.each(
  runtimes.filter(({ name }) => name !== 'node').map((target) => [target.name, target] as const),
)('the command writes the same bytes on %s', async (_name, target) => {
  const command = [...commandOf(target), 'node_modules/framework/dist/cli/index.js', 'generate-sdk', '--dry-run']
  const ended = await runIn(project.folder, [...command, '--entry', 'talks.ts'])
  expect([ended.code, ended.stdout, ended.stderr.includes('starting')]).toEqual([0, onThis.stdout, true])
})

describe.skipIf(!hasChromium)('the client in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium()
  })
  afterAll(() => browser?.close())

  test('on a page of the server, without a base URL', async () => {
    const program = await startProgram([join(project.folder, 'src/page.js')])
    try {
      const page = await browser.newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(`${program.url}/page/`)
      const seen = await page.evaluate(`(async () => {
        const { createClient } = await import('/page/sdk.js')
        const { scenario } = await import('/page/scenario.js')
        const seen = await scenario(createClient())
        let headers = ''
        try {
          createClient().repeat.socket({ headers: { 'x-device': 'd1' } })
        } catch ({ message }) {
          headers = message
        }
        return { ...seen, headers }
      })()`)
      const headers = expect.stringContaining('a browser sends no headers of yours with a websocket')
      expect([seen, problems]).toEqual([{ ...expected, headers }, []])
    } finally {
      await program.end('SIGKILL')
    }
  })
})
