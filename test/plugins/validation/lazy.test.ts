import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { writerName } from '../../../plugins/responses/writer.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

const root = join(import.meta.dirname, '../../..')

/** The validators that a server loads in a process of its own. */
async function loadedWith(options: string): Promise<string[]> {
  const script = `
    import { createRequire } from 'node:module'
    import { RouteCollection, Server } from './index.ts'
    const { cache } = createRequire(import.meta.url)
    const server = new Server({ router: new RouteCollection() })
    server.post('/', ${options}, () => ({ a: 1 }))
    await server.inject({ method: 'POST', url: '/' })
    const names = Object.keys(cache).map((file) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1])
    console.log(JSON.stringify([...new Set(names)].filter((name) => /ajv|stringify/.test(name ?? ''))))`
  const args = [...withTypeScript, '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return JSON.parse(stdout) as string[]
}

test('a server without schemas loads no validator', async () => {
  expect(await loadedWith('{}')).toEqual([])
})

test('response schemas load fast-json-stringify where that writes them, and otherwise nothing', async () => {
  const loaded = await loadedWith(`{ responses: { 200: { type: 'object', properties: { a: { type: 'integer' } } } } }`)
  if (writerName === 'JSON.stringify') expect(loaded).toEqual([])
  else expect(loaded).toContain('fast-json-stringify')
  expect(await loadedWith(`{ responses: { 200: { type: 'object' } } }`)).toEqual([])
})

test('the first schema of a request loads Ajv', async () => {
  expect(await loadedWith(`{ body: { type: 'object' } }`)).toEqual(expect.arrayContaining(['ajv', 'ajv-formats']))
})
