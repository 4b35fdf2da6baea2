import { Readable } from 'node:stream'
import { AzureBlobStorageProvider, S3StorageProvider, Storage } from 'framework'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts'
import { freePort } from '../support/own-server.ts'
import { until } from '../support/queues.ts'
import { s3Credentials } from '../support/s3.ts'
import { keysOf } from '../support/storage.ts'

let fake: FakeS3
let open: Storage[] = []
beforeEach(async () => {
  fake = await startFakeS3()
})
afterEach(async () => {
  for (const storage of open) await storage.close()
  open = []
  await fake.stop()
})

const timeout = 500
const kinds = {
  S3: (endpoint: string) => new S3StorageProvider({ bucket: 'objects', endpoint, credentials: s3Credentials, timeout }),
  Azure: (endpoint: string) => {
    const account = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${Buffer.from('key').toString('base64')}`
    const connectionString = `${account};BlobEndpoint=${endpoint}/a;`
    return new AzureBlobStorageProvider({ container: 'objects', connectionString, timeout })
  },
}
function storageOf(kind: keyof typeof kinds, endpoint = fake.url): Storage {
  const storage = new Storage({ main: kinds[kind](endpoint) })
  open.push(storage)
  return storage
}
const unavailable = { code: 'StorageUnavailableError', status: 500 }
const total = 2_000_000

/** All three modes; each must reject, the stream at the latest when it is read. */
async function expectFailure(storage: Storage, within: number): Promise<void> {
  const start = performance.now()
  const drained = async () => {
    for await (const _chunk of await storage.getObject('a', 'stream'));
  }
  await Promise.all([
    expect(storage.getObject('a')).rejects.toMatchObject(unavailable),
    expect(storage.getObject('a', 'text')).rejects.toMatchObject(unavailable),
    expect(drained()).rejects.toMatchObject(unavailable),
  ])
  expect(performance.now() - start).toBeLessThan(within)
}

describe.each(['S3', 'Azure'] as const)('%s', (kind) => {
  // The time of a question, a second, and what a loaded machine needs.
  const soon = timeout + 1000 + 4000

  test('that is stopped', async () => {
    const storage = storageOf(kind, `http://127.0.0.1:${await freePort()}`)
    await expectFailure(storage, soon)
    await expect(storage.putObject('a', 'x')).rejects.toMatchObject(unavailable)
    await expect(storage.putObject('a', Readable.from([Buffer.from('x')]))).rejects.toMatchObject(unavailable)
    await expect(storage.deleteObject('a')).rejects.toMatchObject(unavailable)
    await expect(storage.exists('a')).rejects.toMatchObject(unavailable)
    await expect(keysOf(storage)).rejects.toMatchObject(unavailable)
    await expect(storage.copy('a', 'b')).rejects.toMatchObject(unavailable)
    await expect(storage.health()).rejects.toMatchObject(unavailable)
  })

  test('that takes connections and never answers', async () => {
    fake.answer = () => {}
    const storage = storageOf(kind)
    await expectFailure(storage, soon)
    await expect(storage.putObject('a', 'x')).rejects.toMatchObject(unavailable)
    await expect(storage.putObject('a', Readable.from([Buffer.from('x')]))).rejects.toMatchObject(unavailable)
    await expect(keysOf(storage)).rejects.toMatchObject(unavailable)
  })

  test('that answers 500', async () => {
    fake.answer = (_req, res) => res.writeHead(500).end()
    await expectFailure(storageOf(kind), soon)
  })

  test('that resets the connection after half of an object', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write(Buffer.alloc(total / 2), () => setTimeout(() => res.socket?.resetAndDestroy(), 50))
    }
    await expectFailure(storageOf(kind), soon)
  })

  test('that falls silent after half of an object', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write(Buffer.alloc(total / 2))
    }
    await expectFailure(storageOf(kind), soon)
  })

  test('that refuses', async () => {
    fake.answer = (_req, res) => res.writeHead(403).end()
    const refused = { code: 'StorageRefusedError', status: 500 }
    await expect(storageOf(kind).getObject('a')).rejects.toMatchObject(refused)
    await expect(storageOf(kind).putObject('a', 'x')).rejects.toMatchObject(refused)
    await expect(storageOf(kind).exists('a')).rejects.toMatchObject(refused)
    // Whoever feeds a stream hears that nobody reads it any more.
    const endless = new Readable({ read: () => {} })
    endless.push(Buffer.alloc(10_000_000))
    endless.push(Buffer.alloc(10_000_000))
    await expect(storageOf(kind).putObject('a', endless)).rejects.toMatchObject(refused)
    await until(() => endless.destroyed, 'its end')
  })

  test('whose bucket is missing is not taken for one without the object', async () => {
    const code = kind === 'S3' ? 'NoSuchBucket' : 'ContainerNotFound'
    fake.answer = (_req, res) => {
      const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>no</Message></Error>`
      res.writeHead(404, { 'content-type': 'application/xml', 'x-ms-error-code': code }).end(body)
    }
    await expect(storageOf(kind).getObject('a')).rejects.toMatchObject({ code: 'StorageRefusedError' })
    await expect(storageOf(kind).deleteObject('a')).rejects.toMatchObject({ code: 'StorageRefusedError' })
  })

  test('has its connections back from 500 streams that were given up', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write(Buffer.alloc(100_000))
    }
    const storage = storageOf(kind)
    for (let i = 0; i < 50; i++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, j) => {
          const stream = await storage.getObject('a', 'stream')
          if (j % 2 === 0) for await (const _chunk of stream) break
          else stream.destroy()
        }),
      )
    }
    await until(() => fake.sockets.size === 0, 'no connection left', 5000)
  }, 60_000)

  test('a stream that the source is slow with may take longer than the service', async () => {
    fake.answer = (req, res) => {
      req.resume().once('end', () => res.writeHead(kind === 'S3' ? 200 : 201, { etag: '"x"' }).end())
    }
    async function* slow() {
      yield Buffer.from('a')
      await new Promise((resolve) => setTimeout(resolve, timeout * 2))
      yield Buffer.from('b')
    }
    await expect(storageOf(kind).putObject('a', slow())).resolves.toBeUndefined()
  })
})

describe('S3 in parts', () => {
  const parts = (req: { method?: string; url?: string }) => {
    if (req.method === 'POST' && req.url?.includes('uploads')) {
      return '<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>'
    }
    return ''
  }

  test('an upload that fails is aborted, so that no part is left', async () => {
    fake.answer = (req, res) => {
      req
        .resume()
        .once('end', () => res.writeHead(200, { etag: '"x"', 'content-type': 'application/xml' }).end(parts(req)))
    }
    async function* failing() {
      for (let i = 0; i < 10; i++) yield Buffer.alloc(2 * 1024 ** 2)
      throw new Error('the source failed')
    }
    await expect(storageOf('S3').putObject('a', failing())).rejects.toThrow('the source failed')
    expect(fake.asked.some((line) => line.startsWith('PUT /objects/a?') && line.includes('partNumber=1'))).toBe(true)
    await until(
      () => fake.asked.some((line) => line.startsWith('DELETE /objects/a?') && line.includes('uploadId=one')),
      'the abort',
    )
    expect(fake.asked.some((line) => line.startsWith('POST') && line.includes('uploadId'))).toBe(false)
  })

  test('pages of a list are asked for while it is read', async () => {
    const page = (
      i: number,
    ) => `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>${i < 3}</IsTruncated>
      <Contents><Key>k${i}</Key><Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"x"</ETag></Contents>
      ${i < 3 ? `<NextContinuationToken>t${i + 1}</NextContinuationToken>` : ''}</ListBucketResult>`
    fake.answer = (req, res) => {
      const token = new URL(req.url!, fake.url).searchParams.get('continuation-token')
      res.writeHead(200, { 'content-type': 'application/xml' }).end(page(Number(token?.slice(1) ?? 1)))
    }
    for await (const { key } of storageOf('S3').list()) {
      expect(key).toBe('k1')
      break
    }
    expect(fake.asked).toHaveLength(1)
    expect(await keysOf(storageOf('S3'))).toEqual(['k1', 'k2', 'k3'])
  })
})
