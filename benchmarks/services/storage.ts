import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Built } from '../micro/built.ts'
import type { MicroCase } from '../micro/harness.ts'
import { missing, must, pair } from './pair.ts'

const content = Buffer.alloc(16_384, 'abcdefgh')
const key = 'reports/2026/1.bin'
const whole = (bytes: Uint8Array) => must(bytes.length === content.length, 'the object is not whole')

interface Place {
  put(): Promise<unknown>
  get(): Promise<Uint8Array>
}

/** Keeps a file complete or missing, even after a power loss: it is written under another name, synchronised and renamed. */
async function diskByHand(folder: string): Promise<Place> {
  const path = join(folder, key)
  await mkdir(join(path, '..'), { recursive: true })
  return {
    async put() {
      const temporary = join(folder, randomUUID())
      const handle = await open(temporary, 'wx')
      try {
        await handle.writeFile(content)
        await handle.datasync()
      } finally {
        await handle.close()
      }
      await rename(temporary, path)
    },
    get: () => readFile(path),
  }
}

const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const bucket = 'objects'

async function s3ByHand(endpoint: string): Promise<Place> {
  const { GetObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
  const client = new S3Client({
    endpoint,
    credentials,
    region: 'us-east-1',
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const object = { Bucket: bucket, Key: `by-hand/${key}` }
  return {
    put: () => client.send(new PutObjectCommand({ ...object, Body: content, ContentType: 'application/octet-stream' })),
    async get() {
      const { Body } = await client.send(new GetObjectCommand(object))
      return Body!.transformToByteArray()
    },
  }
}

/** Puts and gets objects of 16 KB, whole. */
export async function storageCases(built: Built): Promise<MicroCase[]> {
  const { LocalStorageProvider, S3StorageProvider, Storage } = await built.door()
  const { s3rver } = built.services
  const folder = mkdtempSync(join(tmpdir(), 'framework-bench-storage-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const providers = {
    disk: new LocalStorageProvider({ root: join(folder, 'own') }),
    ...(s3rver !== undefined && { S3: new S3StorageProvider({ bucket, endpoint: s3rver, credentials }) }),
  }
  const storage = new Storage<string>(providers, { defaultProvider: 'disk' })
  const byHand: Record<string, Place> = {
    disk: await diskByHand(join(folder, 'by-hand')),
    ...(s3rver !== undefined && { S3: await s3ByHand(s3rver) }),
  }
  const cases: MicroCase[] = []
  for (const [name, hand] of Object.entries(byHand)) {
    const disk = storage.use(name)
    const own: Place = { put: () => disk.putObject(key, content), get: () => disk.getObject(key) }
    await Promise.all([hand.put(), own.put()])
    cases.push(
      ...pair(`put, ${name}`, 4, { 'by hand': hand.put, framework: own.put }),
      ...pair(`get, ${name}`, 4, {
        'by hand': async () => whole(await hand.get()),
        framework: async () => whole(await own.get()),
      }),
    )
  }
  if (s3rver === undefined) cases.push(missing('put, S3', 's3rver'), missing('get, S3', 's3rver'))
  return cases
}
