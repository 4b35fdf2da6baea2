import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStorageProvider, RouteCollection, Server, Storage } from 'framework'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'framework-types-'))
const storage = new Storage({ memory: new MemoryStorageProvider() }, { defaultProvider: 'memory' })
const server = new Server({ plugins: { static: { root, prefix: '/static' } }, router: new RouteCollection() })
server.get('/file/:name', (req, res) => res.file(req.params.name, { root }))
server.get('/download/:name', (req, res) => res.download(join(root, req.params.name)))
server.get('/bytes/:name', (req, res) => res.download(new Uint8Array([1]), req.params.name))
server.get('/type/:name', (req, res) => res.type(req.params.name.replace(/^.*\./, '')).bytes(new Uint8Array([1])))

const types: [name: string, type: string][] = [
  ['a.html', 'text/html; charset=utf-8'],
  ['a.JS', 'text/javascript; charset=utf-8'],
  ['a.woff', 'font/woff'],
  ['a.woff2', 'font/woff2'],
  ['a.ttf', 'font/ttf'],
  ['a.webm', 'video/webm'],
  ['a.ogg', 'audio/ogg'],
  ['a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['a.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['a.epub', 'application/epub+zip'],
  ['a.ics', 'text/calendar; charset=utf-8'],
  ['a.webmanifest', 'application/manifest+json'],
  ['a.tar.gz', 'application/gzip'],
  ['a.unheard-of', 'application/octet-stream'],
]
beforeAll(() => {
  for (const [name] of types) writeFileSync(join(root, name), 'x')
})
afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true, force: true })
})

test.each(types)('%s is %s, wherever it is sent or stored', async (name, type) => {
  for (const path of ['static', 'file', 'download', 'bytes', 'type']) {
    const { status, headers } = await server.inject({ url: `/${path}/${name}` })
    expect([path, status, headers['content-type']]).toEqual([path, 200, type])
  }
  await storage.putObject(name, new Uint8Array([1]))
  expect((await storage.metadata(name)).contentType).toBe(type)
})
