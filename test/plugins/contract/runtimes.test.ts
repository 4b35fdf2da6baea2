import { build } from 'esbuild'
import { implement, RouteCollection, Server } from 'framework'
import { defineContract } from 'framework/contract'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { commandOf, runtimeKinds } from '../../conformance/targets.ts'
import { hasChromium, startChromium } from '../../support/chromium.ts'
import { makeProject, type Project, runIn } from '../../support/cli.ts'
import { buildIfMissing } from '../../support/package/tarball.ts'
import { runTsc } from '../../support/typescript.ts'

const contract = `
import { defineContract } from 'framework/contract'
import { z } from 'zod'
const Post = z.object({ id: z.string(), words: z.array(z.string()) })
export const shop = defineContract({
  readPost: { method: 'GET', path: '/posts/:id', query: z.object({ words: z.array(z.string()) }), responses: { 200: Post } },
  addPost: { method: 'POST', path: '/posts', body: Post, responses: { 201: Post } },
})`
const browser = `
import { contractClient } from 'framework/contract'
import { shop } from './contract.js'
globalThis.client = contractClient(shop)`
const program = `
import { implement, router, Server } from 'framework'
import { contractClient } from 'framework/contract'
import { shop } from './contract.js'
implement(router, shop, {
  readPost: (req) => ({ id: req.params.id, words: req.query.words }),
  addPost: { log: false, handler: (req, res) => res.created(req.body) },
})
const server = new Server({ port: 0, host: '127.0.0.1' })
const { port } = await server.listen()
const client = contractClient(shop, { baseUrl: 'http://127.0.0.1:' + port })
const read = await client.readPost({ params: { id: 'a/ü' }, query: { words: ['x', 'y'] } })
const added = await client.addPost({ body: { id: '1', words: [] } })
const refused = await client.addPost({ body: {} })
const given = await client.readPost({ params: { id: 'x' }, query: { words: ['x'] }, signal: AbortSignal.abort() }).catch(({ name }) => name)
await server.close()
const gone = await client.addPost({ body: { id: '1', words: [] } }).catch(({ code }) => code)
console.log(JSON.stringify([read.status, read.body, added.status, added.body, refused.status, given, gone]))
process.exit(0)`

let project: Project
beforeAll(() => {
  buildIfMissing()
  project = makeProject({ 'contract.js': contract, 'browser.js': browser, 'program.js': program }, ['zod', 'esbuild'])
})
afterAll(() => project.remove())

test.concurrent.each(
  runtimeKinds.filter((target) => target.adapter === undefined).map((target) => [target.name, target] as const),
)('server and client on %s', async (_name, target) => {
  const ended = await runIn(project.folder, [...commandOf(target), 'program.js'])
  expect([ended.stdout, ended.code]).toEqual([expect.any(String), 0])
  expect(JSON.parse(ended.stdout)).toEqual([
    200,
    { id: 'a/ü', words: ['x', 'y'] },
    201,
    { id: '1', words: [] },
    422,
    'AbortError',
    'ContractCallError',
  ])
})

test('a bundle for browsers has nothing of Node.js or of the server in it', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [`${project.folder}/browser.js`],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    external: ['zod'],
    logLevel: 'silent',
  })
  const { text } = outputFiles[0]!
  // Modules outside of browsers fail the build, and the excluded ones are named here.
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))).toEqual(['zod'])
  expect(text).not.toMatch(/node:|\bprocess\.|\bBuffer\b|\brequire\(/)
  const own = Object.keys(metafile.inputs)
    .filter((path) => path.includes('/framework/'))
    .map((path) => path.replace(/^.*\/dist\//, ''))
  expect(own.sort()).toEqual(['chunks/contract.js', 'plugins/contract/index.js'])
  expect(text.length).toBeLessThan(16_000)
})

describe.skipIf(!hasChromium)('in a browser', () => {
  let chromium: Browser
  beforeAll(async () => {
    chromium = await startChromium()
  })
  afterAll(() => chromium?.close())

  test('the bundled client calls the server of its page, and receives refusals', async () => {
    const { outputFiles } = await build({
      entryPoints: [`${project.folder}/browser.js`],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      logLevel: 'silent',
    })
    const Post = z.object({ id: z.string(), words: z.array(z.string()) })
    const shop = defineContract({
      readPost: {
        method: 'GET',
        path: '/posts/:id',
        query: z.object({ words: z.array(z.string()) }),
        responses: { 200: Post },
      },
      addPost: { method: 'POST', path: '/posts', body: Post, responses: { 201: Post } },
    })
    const routes = new RouteCollection()
    implement(routes, shop, {
      readPost: (req) => ({ id: req.params.id, words: req.query.words }),
      addPost: (req, res) => res.created(req.body),
    })
    await using server = new Server({ port: 0, host: '127.0.0.1', router: routes, plugins: { helmet: true } })
    server.get('/', (_req, res) => res.html('<!doctype html><script type="module" src="/client.js"></script>'))
    server.get('/client.js', (_req, res) => res.type('text/javascript').bytes(outputFiles[0]!.contents))
    await server.listen()
    const page = await chromium.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(server.url)
    await page.waitForFunction('globalThis.client !== undefined')
    const seen = await page.evaluate(`(async () => {
      const read = await client.readPost({ params: { id: 'a/ü' }, query: { words: ['x', 'y'] } })
      const added = await client.addPost({ body: { id: '1', words: [] } })
      const refused = await client.addPost({ body: {} })
      return [read.status, read.body, added.status, added.body, refused.status, refused.body.code]
    })()`)
    const expected = [200, { id: 'a/ü', words: ['x', 'y'] }, 201, { id: '1', words: [] }, 422, 'ValidationError']
    expect([seen, problems]).toEqual([expected, []])
  })
})

test('the types of the door need neither those of Node.js nor those of the server', () => {
  project.write({
    'browser.ts': `import { contractClient, defineContract } from 'framework/contract'
const shop = defineContract({ one: { method: 'GET', path: '/one/:id' } })
export const answer = await contractClient(shop).one({ params: { id: '1' } })`,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable'],
        types: [],
        strict: true,
        noEmit: true,
      },
      files: ['browser.ts'],
    }),
  })
  const { output } = runTsc(['-p', '.', '--listFiles'], project.folder)
  const files = output.split('\n').filter((line) => line.includes('/framework/'))
  expect(output).not.toContain('error TS')
  expect(
    files.filter(
      (file) => !/dist\/(plugins\/contract|kernel\/(routing\/pattern|support)|plugins\/shared\/schema)/.test(file),
    ),
  ).toEqual([])
  expect(files.length).toBeGreaterThan(3)
})
