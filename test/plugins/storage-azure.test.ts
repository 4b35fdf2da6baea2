import { BlobServiceClient } from '@azure/storage-blob'
import { AzureBlobStorageProvider, Storage } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlobServer, startBlob } from '../support/blob.ts'
import { until } from '../support/queues.ts'
import { testProvider } from '../support/storage.ts'

describe('Azure Blob Storage', () => {
  let blob: BlobServer
  testProvider({
    async start() {
      blob = await startBlob()
      await BlobServiceClient.fromConnectionString(blob.connectionString).createContainer('objects')
      return new AzureBlobStorageProvider({ container: 'objects', connectionString: blob.connectionString })
    },
    stop: () => blob.stop(),
  })
})

describe('addresses of Azure Blob Storage', () => {
  let blob: BlobServer
  let storage: Storage
  beforeAll(async () => {
    blob = await startBlob()
    const { connectionString } = blob
    await BlobServiceClient.fromConnectionString(connectionString).createContainer('objects')
    storage = new Storage({ blobs: new AzureBlobStorageProvider({ container: 'objects', connectionString }) })
  }, 60_000)
  afterAll(() => blob.stop())

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

  test('lists more than one page', async () => {
    const put = (i: number) => storage.putObject(`pages/${i}`, '')
    for (let i = 0; i < 5010; i += 30) await Promise.all(Array.from({ length: 30 }, (_, j) => put(i + j)))
    const keys = new Set<string>()
    for await (const { key } of storage.list('pages/')) keys.add(key)
    expect(keys.size).toBe(5010)
  }, 120_000)

  test('need the key of the account', async () => {
    const anonymous = new BlobServiceClient(blob.url).getContainerClient('objects')
    const provider = new AzureBlobStorageProvider({ container: 'objects', client: anonymous })
    const error = { code: 'StorageUrlError', message: expect.stringContaining('key of the account') }
    await expect(new Storage({ provider }).getDownloadUrl('a')).rejects.toMatchObject(error)
  })

  test('a connection string that is none is told when it is used, and never shown', async () => {
    const provider = new AzureBlobStorageProvider({ container: 'objects', connectionString: 'TOP-SECRET' })
    const error = await new Storage({ provider }).getObject('a').catch((error) => error)
    expect(error.code).toBe('OptionError')
    expect(error.message).not.toContain('TOP-SECRET')
  })
})
