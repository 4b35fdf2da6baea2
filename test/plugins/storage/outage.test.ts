import { Readable } from 'node:stream'
import { AzureBlobStorageProvider, S3StorageProvider, Storage } from 'framework'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeS3, startFakeS3 } from '../../support/fake-s3.ts'
import { freePort } from '../../support/own-server.ts'
import { until } from '../../support/queues.ts'
import { s3Credentials } from '../../support/s3.ts'
import { keysOf } from '../../support/storage.ts'

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

/** Of a service that does not respond as it should; the others have as long as a busy machine needs. */
const timeout = 500
const kinds = {
  S3: (endpoint: string, timeout: number) =>
    new S3StorageProvider({ bucket: 'objects', endpoint, credentials: s3Credentials, timeout }),
  Azure: (endpoint: string, timeout: number) => {
    const account = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=${Buffer.from('key').toString('base64')}`
    const connectionString = `${account};BlobEndpoint=${endpoint}/a;`
    return new AzureBlobStorageProvider({ container: 'objects', connectionString, timeout })
  },
}
function storageOf(kind: keyof typeof kinds, endpoint = fake.url, ms = 30_000): Storage {
  const storage = new Storage({ main: kinds[kind](endpoint, ms) })
  open.push(storage)
  return storage
}
const unavailable = { code: 'StorageUnavailableError', status: 500 }
const total = 2_000_000

/** All three modes; each must reject, the stream at the latest when it is read. */
async function expectFailure(storage: Storage): Promise<void> {
  const drained = async () => {
    for await (const _chunk of await storage.getObject('a', 'stream'));
  }
  await Promise.all([
    expect(storage.getObject('a')).rejects.toMatchObject(unavailable),
    expect(storage.getObject('a', 'text')).rejects.toMatchObject(unavailable),
    expect(drained()).rejects.toMatchObject(unavailable),
  ])
}

describe.each(['S3', 'Azure'] as const)('%s', (kind) => {
  test('that is stopped', async () => {
    const storage = storageOf(kind, `http://127.0.0.1:${await freePort()}`, timeout)
    await expectFailure(storage)
    await Promise.all([
      expect(storage.putObject('a', 'x')).rejects.toMatchObject({ ...unavailable, key: 'a' }),
      expect(storage.putObject('a', Readable.from([Buffer.from('x')]))).rejects.toMatchObject(unavailable),
      expect(storage.deleteObject('a')).rejects.toMatchObject(unavailable),
      expect(storage.exists('a')).rejects.toMatchObject(unavailable),
      expect(keysOf(storage)).rejects.toMatchObject(unavailable),
      expect(storage.copy('a', 'b')).rejects.toMatchObject(unavailable),
      expect(storage.health()).rejects.toMatchObject(unavailable),
    ])
  })

  test('that takes connections and never responds', async () => {
    fake.answer = () => {}
    const storage = storageOf(kind, fake.url, timeout)
    await Promise.all([
      expectFailure(storage),
      expect(storage.putObject('a', 'x')).rejects.toMatchObject(unavailable),
      expect(storage.putObject('a', Readable.from([Buffer.from('x')]))).rejects.toMatchObject(unavailable),
      expect(keysOf(storage)).rejects.toMatchObject(unavailable),
    ])
  })

  test('that responds 500', async () => {
    fake.answer = (_req, res) => res.writeHead(500).end()
    await expectFailure(storageOf(kind, fake.url, timeout))
  })

  test('that resets the connection after half of an object', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write(Buffer.alloc(total / 2), () => setTimeout(() => res.socket?.resetAndDestroy(), 50))
    }
    await expectFailure(storageOf(kind, fake.url, timeout))
  })

  test('that falls silent after half of an object', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write(Buffer.alloc(total / 2))
    }
    await expectFailure(storageOf(kind, fake.url, timeout))
  })

  test('that refuses', async () => {
    fake.answer = (_req, res) => res.writeHead(403).end()
    const refused = { code: 'StorageRefusedError', status: 500 }
    await expect(storageOf(kind).getObject('a')).rejects.toMatchObject(refused)
    await expect(storageOf(kind).putObject('a', 'x')).rejects.toMatchObject(refused)
    await expect(storageOf(kind).exists('a')).rejects.toMatchObject(refused)
    // The producer of a stream learns that it is no longer read.
    const endless = new Readable({ read: () => {} })
    endless.push(Buffer.alloc(10_000_000))
    endless.push(Buffer.alloc(10_000_000))
    await expect(storageOf(kind).putObject('a', endless)).rejects.toMatchObject(refused)
    await until(() => endless.destroyed, 'its end')
    // A source that has more data is not the failure.
    async function* large() {
      for (let i = 0; i < 10; i++) yield Buffer.alloc(2 * 1024 ** 2)
    }
    await expect(storageOf(kind).putObject('a', large())).rejects.toMatchObject(refused)
    await expect(storageOf(kind).exists('a')).rejects.toThrow(/refuses: 403$/)
  })

  test('whose lists have pages: they are asked for while the list is read', async () => {
    fake.answer = (req, res) => {
      const { searchParams } = new URL(req.url!, fake.url)
      const page = Number((searchParams.get('continuation-token') ?? searchParams.get('marker') ?? 't1').slice(1))
      const next = page < 3 ? `t${page + 1}` : ''
      const time = '2026-01-01T00:00:00.000Z'
      const s3 = `<ListBucketResult><IsTruncated>${page < 3}</IsTruncated>
        <Contents><Key>k${page}</Key><Size>1</Size><LastModified>${time}</LastModified><ETag>"x"</ETag></Contents>
        ${next && `<NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`
      const azure = `<EnumerationResults ServiceEndpoint="${fake.url}/a" ContainerName="objects"><Blobs><Blob><Name>k${page}</Name>
        <Properties><Last-Modified>${new Date(time).toUTCString()}</Last-Modified><Etag>x</Etag><Content-Length>1</Content-Length>
        </Properties></Blob></Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`
      const body = `<?xml version="1.0" encoding="UTF-8"?>${kind === 'S3' ? s3 : azure}`
      res.writeHead(200, { 'content-type': 'application/xml' }).end(body)
    }
    for await (const { key } of storageOf(kind).list()) {
      expect(key).toBe('k1')
      break
    }
    expect(fake.asked).toHaveLength(1)
    expect(await keysOf(storageOf(kind))).toEqual(['k1', 'k2', 'k3'])
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

  test('has its connections back from 60 streams that were given up', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write(Buffer.alloc(100_000))
    }
    const storage = storageOf(kind)
    for (let i = 0; i < 6; i++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, j) => {
          const stream = await storage.getObject('a', 'stream')
          if (j % 2 === 0) for await (const _chunk of stream) break
          else stream.destroy()
        }),
      )
    }
    await until(() => fake.sockets.size === 0, 'no connection left')
  })

  test('a stream that the source is slow with may take longer than the service', async () => {
    const timeout = 2_000
    fake.answer = (req, res) => {
      req.resume().once('end', () => res.writeHead(kind === 'S3' ? 200 : 201, { etag: '"x"' }).end())
    }
    async function* slow() {
      yield Buffer.from('a')
      await new Promise((resolve) => setTimeout(resolve, timeout + 500))
      yield Buffer.from('b')
    }
    await expect(storageOf(kind, fake.url, timeout).putObject('a', slow())).resolves.toBeUndefined()
  })
})

describe('S3 alone', () => {
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

  test('an object whose size a service does not send', async () => {
    fake.answer = (_req, res) => {
      res.writeHead(200, { etag: '"x"', 'last-modified': new Date().toUTCString() })
      res.write('one ')
      res.end('two')
    }
    expect(await storageOf('S3').getObject('a', 'text')).toBe('one two')
  })

  test('an object that is too large for one call is copied in parts', async () => {
    const size = 5 * 1024 ** 3 + 7
    const ranges: unknown[] = []
    let failing = false
    fake.answer = (req, res) => {
      req.resume()
      const head = { etag: '"x"', 'content-type': 'application/xml', 'content-length': size }
      if (req.method === 'HEAD') return void res.writeHead(200, { ...head, 'content-type': 'text/x-own' }).end()
      let body = parts(req)
      if (req.headers['x-amz-copy-source'] !== undefined) {
        ranges.push([req.headers['x-amz-copy-source-range'], req.headers['x-amz-copy-source-if-match']])
        body = '<CopyPartResult><ETag>"part"</ETag></CopyPartResult>'
        if (failing && ranges.length === 2) return void res.writeHead(403).end()
      } else if (req.method === 'POST' && body === '')
        body = '<CompleteMultipartUploadResult><Key>b</Key></CompleteMultipartUploadResult>'
      res.writeHead(200, { 'content-type': 'application/xml' }).end(body)
    }
    await storageOf('S3').copy('a ü', 'b')
    expect(ranges).toHaveLength(6)
    expect(ranges[0]).toEqual(['bytes=0-1073741823', '"x"'])
    expect(ranges[5]).toEqual([`bytes=5368709120-${size - 1}`, '"x"'])
    expect(fake.asked.at(-1)).toMatch(/^POST \/objects\/b\?.*uploadId=one/)
    ranges.length = 0
    failing = true
    await expect(storageOf('S3').copy('a', 'b')).rejects.toMatchObject({ code: 'StorageRefusedError' })
    expect(fake.asked.at(-1)).toMatch(/^DELETE \/objects\/b\?.*uploadId=one/)
  })

  test('a copy may take as long as its size needs', async () => {
    const timeout = 2_000
    fake.answer = (req, res) => {
      if (req.method === 'HEAD') return void res.writeHead(200, { 'content-length': 100_000_000, etag: '"x"' }).end()
      const body = '<CopyObjectResult><ETag>"x"</ETag></CopyObjectResult>'
      setTimeout(() => res.writeHead(200, { 'content-type': 'application/xml' }).end(body), timeout + 500)
    }
    await expect(storageOf('S3', fake.url, timeout).copy('a', 'b')).resolves.toBeUndefined()
  })
})
