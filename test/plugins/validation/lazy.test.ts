import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { writerName } from '../../../plugins/responses/writer.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

const root = join(import.meta.dirname, '../../..')

const routes = {
  'no schema': '{}',
  'an object without members in a response': `{ responses: { 200: { type: 'object' } } }`,
  'a body': `{ body: { type: 'object' } }`,
  'a member in a response': `{ responses: { 200: { type: 'object', properties: { a: { type: 'integer' } } } } }`,
}
/** The validators that a server with each of the routes loads, one server after the other in a process of their own. */
let loaded: Readonly<Record<keyof typeof routes, readonly string[]>>

beforeAll(async () => {
  const script = `
    import { createRequire } from 'node:module'
    import { RouteCollection, Server } from './index.ts'
    const { cache } = createRequire(import.meta.url)
    const namesOf = () => {
      const names = Object.keys(cache).map((file) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1])
      return [...new Set(names)].filter((name) => /ajv|stringify/.test(name ?? ''))
    }
    const loaded = {}
    for (const [what, options] of Object.entries({ ${Object.entries(routes).map(([what, options]) => `'${what}': ${options}`)} })) {
      const before = namesOf()
      const server = new Server({ router: new RouteCollection() })
      server.post('/', options, () => ({ a: 1 }))
      await server.inject({ method: 'POST', url: '/' })
      loaded[what] = namesOf().filter((name) => !before.includes(name))
    }
    console.log(JSON.stringify(loaded))`
  const args = [...withTypeScript, '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  loaded = JSON.parse(stdout) as typeof loaded
})

test('a server without schemas loads no validator', () => {
  expect(loaded['no schema']).toEqual([])
})

test('response schemas load fast-json-stringify where that writes them, and otherwise nothing', () => {
  const ofMember = loaded['a member in a response']
  if (writerName === 'JSON.stringify') expect(ofMember).toEqual([])
  else expect(ofMember).toContain('fast-json-stringify')
  expect(loaded['an object without members in a response']).toEqual([])
})

test('the first schema of a request loads Ajv', () => {
  expect(loaded['a body']).toEqual(expect.arrayContaining(['ajv', 'ajv-formats']))
})
