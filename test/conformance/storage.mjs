import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  AzureBlobStorageProvider,
  LocalStorageProvider,
  MemoryStorageProvider,
  RouteCollection,
  S3StorageProvider,
  Server,
} from 'framework'

/**
 * Storages of every kind on whichever runtime runs this. Returns what it saw.
 *
 * @param {string} [adapter]
 * @param {string} [prefix] What keys begin with.
 * @param {string} [s3] Where the emulator of S3 is.
 * @param {string} [azure] The connection string of the emulator of Azure.
 */
export async function run(adapter, prefix, s3, azure) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const root = mkdtempSync(join(tmpdir(), 'framework-conformance-'))
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  const providers = {
    memory: new MemoryStorageProvider(),
    disk: new LocalStorageProvider({ root, signedUrls: { secret: 'a secret of this test alone' } }),
    s3: new S3StorageProvider({ bucket: 'objects', endpoint: s3, credentials }),
    azure: new AzureBlobStorageProvider({ container: 'objects', connectionString: azure }),
  }
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    drainWindow: 0,
    logger,
    router: new RouteCollection(),
    ...(adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}),
    plugins: { storage: { providers, defaultProvider: 'memory' } },
  })
  const storage = server.services.get('storage')
  server.get('/stream/:kind', async (req, res) =>
    res.type('txt').stream(await storage.use(req.params.kind).getObject(`${prefix}/streamed`, 'stream')),
  )
  const { port } = await server.listen()
  const origin = `http://127.0.0.1:${port}`

  const large = Buffer.alloc(9_000_000, 'large ')
  async function* pieces() {
    for (let at = 0; at < large.length; at += 100_000) yield large.subarray(at, at + 100_000)
  }
  /** @param {Promise<unknown>} work */
  const codeOf = (work) => work.then(String, (error) => error.code)

  /** @type {Record<string, unknown>} */
  const seen = {}
  for (const kind of /** @type {const} */ (['memory', 'disk', 's3', 'azure'])) {
    const disk = storage.use(kind)
    const key = `${prefix}/ä b.txt`
    await disk.putObject(key, 'grüße', 'text/x-own')
    const { size, contentType } = await disk.metadata(key)
    await disk.putObject(`${prefix}/large`, pieces())
    await disk.putObject(`${prefix}/blob`, new Blob(['blob'], { type: 'image/png' }))
    await disk.putObject(`${prefix}/streamed`, Readable.from([Buffer.from('one '), Buffer.from('two')]))
    const back = await disk.getObject(`${prefix}/large`)
    await disk.copy(key, `${prefix}/copy`)
    await disk.move(`${prefix}/copy`, `${prefix}/moved`)
    const keys = []
    for await (const entry of disk.list(`${prefix}/`)) keys.push(entry.key.slice(prefix.length + 1))
    const given = await disk.getObject(`${prefix}/large`, 'stream')
    for await (const _chunk of given) break
    async function* failing() {
      yield new Uint8Array(10)
      throw Object.assign(new Error('no'), { code: 'SOURCE' })
    }
    seen[kind] = {
      text: await disk.getObject(key, 'text'),
      size,
      contentType,
      large: Buffer.compare(back, large),
      blob: [(await disk.metadata(`${prefix}/blob`)).contentType, await disk.getObject(`${prefix}/blob`, 'text')],
      moved: [await disk.exists(`${prefix}/copy`), await disk.getObject(`${prefix}/moved`, 'text')],
      keys,
      streamed: await (await fetch(`${origin}/stream/${kind}`)).text(),
      givenUp: given.destroyed,
      missing: [
        await codeOf(disk.getObject(`${prefix}/missing`)),
        await codeOf(disk.getObject(`${prefix}/missing`, 'stream')),
        await codeOf(disk.metadata(`${prefix}/missing`)),
        await codeOf(disk.deleteObject(`${prefix}/missing`)),
      ],
      bad: await codeOf(disk.getObject('../x')),
      failing: [await codeOf(disk.putObject(`${prefix}/failing`, failing())), await disk.exists(`${prefix}/failing`)],
      health: await codeOf(disk.health()),
    }
    for (const name of keys) await disk.deleteObject(`${prefix}/${name}`)
  }

  const disk = storage.use('disk')
  const address = async (/** @type {Promise<string>} */ path) => `${origin}${await path}`
  const put = { method: 'PUT', body: '{"a":1}', headers: { 'content-type': 'application/json' } }
  const sent = await fetch(await address(disk.getUploadUrl(`${prefix}/a.json`, 60, 'application/json')), put)
  const link = await address(disk.getDownloadUrl(`${prefix}/a.json`, 60))
  const whole = await fetch(link)
  const part = await fetch(link, { headers: { range: 'bytes=1-3' } })
  const forged = await fetch(link.replace('a.json', 'b.json'))
  seen.addresses = {
    sent: sent.status,
    whole: [whole.status, whole.headers.get('content-type'), await whole.text()],
    part: [part.status, await part.text()],
    forged: [forged.status, (await forged.json()).code],
    s3: (await fetch(await storage.use('s3').getDownloadUrl(`${prefix}/none`, 60))).status,
    azure: (await fetch(await storage.use('azure').getDownloadUrl(`${prefix}/none`, 60))).status,
  }

  await server.close()
  rmSync(root, { recursive: true })
  return seen
}
