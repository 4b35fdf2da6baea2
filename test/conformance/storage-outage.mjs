import process from 'node:process'
import { AzureBlobStorageProvider, S3StorageProvider, Storage } from 'framework'

// What becomes of reading when a service fails, on whichever runtime runs this. Argument: where a server is that fails as the
// key says. Prints what it saw as JSON.
const [, , endpoint = ''] = process.argv
const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
const account = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${Buffer.from('key').toString('base64')}`
const connectionString = `${account};BlobEndpoint=${endpoint}/a;`
const storage = new Storage(
  {
    s3: new S3StorageProvider({ bucket: 'objects', endpoint, credentials, timeout: 500 }),
    azure: new AzureBlobStorageProvider({ container: 'objects', connectionString, timeout: 500 }),
  },
  { defaultProvider: 's3' },
)

/** @type {Record<string, unknown>} */
const seen = {}
for (const kind of /** @type {const} */ (['s3', 'azure'])) {
  for (const key of ['refused', 'silent', 'reset', 'short', 'half', 'error']) {
    const codes = await Promise.all(
      /** @type {const} */ (['raw', 'stream']).map(async (mode) => {
        const start = performance.now()
        try {
          const given = await storage.use(kind).getObject(key, mode)
          if (mode === 'stream') for await (const _chunk of /** @type {any} */ (given));
          return 'nothing'
        } catch (error) {
          return performance.now() - start < 6000 ? /** @type {any} */ (error).code : 'late'
        }
      }),
    )
    seen[`${kind} ${key}`] = codes
  }
  for (let i = 0; i < 100; i++) (await storage.use(kind).getObject('endless', 'stream')).destroy()
  for (let i = 0; i < 20; i++) {
    for await (const _chunk of await storage.use(kind).getObject('endless', 'stream')) break
  }
}
const giveUpAt = performance.now() + 5000
let open = 1
while (open > 0 && performance.now() < giveUpAt) {
  await new Promise((resolve) => setTimeout(resolve, 50))
  open = Number(await (await fetch(`${endpoint}/open`)).text())
}
seen.open = open
await storage.close()
console.log(JSON.stringify(seen))
process.exit(0)
