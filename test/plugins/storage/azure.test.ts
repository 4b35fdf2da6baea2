import { AccountSASPermissions, BlobServiceClient, ContainerClient, type WebResource } from '@azure/storage-blob'
import { AzureBlobStorageProvider, Storage } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testStorageProvider } from '../../contracts/storage-provider.ts'
import { type BlobServer, startBlob } from '../../support/blob.ts'
import { until } from '../../support/queues.ts'

let blob: BlobServer
let storage: Storage
beforeAll(async () => {
  blob = await startBlob()
  const { connectionString } = blob
  await BlobServiceClient.fromConnectionString(connectionString).createContainer('objects')
  storage = new Storage({ blobs: new AzureBlobStorageProvider({ container: 'objects', connectionString }) })
})
afterAll(() => blob.stop())

describe('Azure Blob Storage', () => {
  testStorageProvider(
    () => new AzureBlobStorageProvider({ container: 'objects', connectionString: blob.connectionString }),
    { test },
  )
})

describe('addresses of Azure Blob Storage', () => {
  test('take and give an object, for one key, one purpose and a time', async () => {
    const headers = { 'x-ms-blob-type': 'BlockBlob', 'content-type': 'image/png' }
    const upload = await storage.getUploadUrl('a b/ü.png', 60, 'image/png')
    expect((await fetch(upload, { method: 'PUT', body: 'picture', headers })).status).toBe(201)
    expect((await storage.metadata('a b/ü.png')).contentType).toBe('image/png')
    expect((await fetch(upload)).status).toBe(403)

    const download = await storage.getDownloadUrl('a b/ü.png', 60)
    expect(await (await fetch(download)).text()).toBe('picture')
    expect((await fetch(download.replace('%C3%BC', 'u'))).status).toBe(403)
    expect((await fetch(download, { method: 'PUT', body: 'x', headers })).status).toBe(403)
    expect(await storage.getPublicUrl('a b/ü.png')).toBe(download.slice(0, download.indexOf('?')))

    const short = await storage.getDownloadUrl('a b/ü.png', 1)
    await until(async () => (await fetch(short)).status === 403, 'its end')
  })

  test('without a content type they take any', async () => {
    for (const type of ['image/png', 'text/html']) {
      const headers = { 'x-ms-blob-type': 'BlockBlob', 'content-type': type }
      const upload = await storage.getUploadUrl('any', 60)
      expect((await fetch(upload, { method: 'PUT', body: 'x', headers })).status).toBe(201)
      expect((await storage.metadata('any')).contentType).toBe(type)
    }
  })

  test('show nothing of a connection string that is signed itself', async () => {
    const service = BlobServiceClient.fromConnectionString(blob.connectionString)
    const signed = service.generateAccountSasUrl(undefined, AccountSASPermissions.parse('rwdlac'), 'sco')
    const SharedAccessSignature = new URL(signed).search.slice(1)
    const connectionString = `BlobEndpoint=${blob.url};SharedAccessSignature=${SharedAccessSignature}`
    const own = new Storage({ blobs: new AzureBlobStorageProvider({ container: 'objects', connectionString }) })
    await own.putObject('by signature', 'x')
    await own.copy('by signature', 'copied by it')
    expect(await own.getPublicUrl('by signature')).toBe(`${blob.url}/objects/by%20signature`)
    await expect(own.getDownloadUrl('by signature')).rejects.toMatchObject({ code: 'StorageUrlError' })
  })

  test('are signed with a key that is lent to the owner of a token', async () => {
    const asked: string[] = []
    const value = Buffer.from('the key that was lent').toString('base64')
    const httpClient = {
      async sendRequest(request: WebResource) {
        asked.push(`${request.method} ${request.url} ${request.headers.get('authorization')}`)
        const [, start, end] = /<Start>(.*)<\/Start><Expiry>(.*)<\/Expiry>/.exec(String(request.body))!
        const of = 'SignedOid>o</SignedOid><SignedTid>t</SignedTid><SignedService>b</SignedService'
        const time = `<SignedStart>${start}</SignedStart><SignedExpiry>${end}</SignedExpiry>`
        const bodyAsText = `<?xml version="1.0"?><UserDelegationKey><${of}>${time}<SignedVersion>2025-01-05</SignedVersion><Value>${value}</Value></UserDelegationKey>`
        const headers = request.headers.clone()
        headers.set('content-type', 'application/xml')
        return { request, status: 200, headers, bodyAsText }
      },
    }
    const credential = { getToken: async () => ({ token: 'TOKEN', expiresOnTimestamp: Date.now() + 3_600_000 }) }
    const account = 'https://account.blob.core.windows.net'
    const client = new ContainerClient(`${account}/objects`, credential, { httpClient } as object)
    const own = new Storage({ blobs: new AzureBlobStorageProvider({ container: 'objects', client }) })
    for (const key of ['a b/ü.png', 'b']) {
      const url = new URL(await own.getDownloadUrl(key, 60))
      expect(url.origin + decodeURIComponent(url.pathname)).toBe(`${account}/objects/${key}`)
      const sent = Object.fromEntries(url.searchParams)
      expect(sent).toMatchObject({ skoid: 'o', sktid: 't', sp: 'r', sr: 'b' })
      expect(Date.parse(sent.se!) - Date.now()).toBeLessThanOrEqual(60_000)
      expect(Date.parse(sent.ske!)).toBeGreaterThanOrEqual(Date.parse(sent.se!))
    }
    const again = `POST ${account}/?restype=service&comp=userdelegationkey Bearer TOKEN`
    expect(asked).toEqual([again])
    await own.getUploadUrl('a', 604_800)
    expect(asked).toEqual([again, again])
  })

  test('need the key of the account', async () => {
    const anonymous = new BlobServiceClient(blob.url).getContainerClient('objects')
    const provider = new AzureBlobStorageProvider({ container: 'objects', client: anonymous })
    const error = { code: 'StorageUrlError', message: expect.stringContaining('key of the account') }
    await expect(new Storage({ provider }).getDownloadUrl('a')).rejects.toMatchObject(error)
  })

  test('an invalid connection string is reported when it is used, and never shown', async () => {
    const provider = new AzureBlobStorageProvider({ container: 'objects', connectionString: 'TOP-SECRET' })
    const error = await new Storage({ provider }).getObject('a').catch((error) => error)
    expect(error.code).toBe('OptionError')
    expect(error.message).not.toContain('TOP-SECRET')
  })
})
