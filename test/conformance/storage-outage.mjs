import { AzureBlobStorageProvider, S3StorageProvider, Storage } from 'framework'

const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
const account = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${Buffer.from('key').toString('base64')}`

/**
 * @param {string} endpoint
 * @param {number} timeout
 */
function storageAt(endpoint, timeout) {
  const connectionString = `${account};BlobEndpoint=${endpoint}/a;`
  return new Storage(
    {
      s3: new S3StorageProvider({ bucket: 'objects', endpoint, credentials, timeout }),
      azure: new AzureBlobStorageProvider({ container: 'objects', connectionString, timeout }),
    },
    { defaultProvider: 's3' },
  )
}

/**
 * What becomes of reading when a service fails, on whichever runtime runs this.
 *
 * @param {string} endpoint Where a server is that fails as the key says.
 * @param {string} rounds How often ten streams without end are given up.
 */
export async function run(endpoint, rounds) {
  const failing = storageAt(endpoint, 500)
  /** @type {Record<string, unknown>} */
  const seen = {}
  /**
   * @param {'s3' | 'azure'} kind
   * @param {string} key
   * @param {'raw' | 'stream'} mode
   */
  async function read(kind, key, mode) {
    const start = performance.now()
    try {
      const given = await failing.use(kind).getObject(key, mode)
      if (mode === 'stream') for await (const _chunk of /** @type {any} */ (given));
      return 'nothing'
    } catch (error) {
      return performance.now() - start < 25_000 ? /** @type {any} */ (error).code : 'late'
    }
  }
  const patient = storageAt(endpoint, 30_000)
  /** @param {'s3' | 'azure'} kind */
  async function giveUp(kind) {
    for (let i = 0; i < Number(rounds); i++) {
      const ten = Array.from({ length: 10 }, () => patient.use(kind).getObject('endless', 'stream'))
      for (const stream of await Promise.all(ten)) {
        if (i % 3 === 0) for await (const _chunk of stream) break
        else stream.destroy()
      }
    }
  }
  for (const kind of /** @type {const} */ (['s3', 'azure'])) {
    const keys = ['refused', 'silent', 'reset', 'short', 'half', 'error']
    await Promise.all(
      keys.map(async (key) => {
        seen[`${kind} ${key}`] = await Promise.all([read(kind, key, 'raw'), read(kind, key, 'stream')])
      }),
    )
    await giveUp(kind)
  }
  const giveUpAt = performance.now() + 30_000
  let open = 1
  while (open > 0 && performance.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    open = Number(await (await fetch(`${endpoint}/open`)).text())
  }
  seen.open = open
  await failing.close()
  await patient.close()
  return seen
}
