import type { Socket } from 'node:net'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BlobServer, startBlob } from '../support/blob.ts'
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts'
import type { OwnServer } from '../support/own-server.ts'
import { startS3 } from '../support/s3.ts'
import { resultOf, targets } from './targets.ts'

let s3: OwnServer
let blob: BlobServer
let failing: FakeS3
beforeAll(async () => {
  ;[s3, blob, failing] = await Promise.all([startS3(), startBlob(), startFailing()])
  await BlobServiceClient.fromConnectionString(blob.connectionString).createContainer('objects')
})
afterAll(() => Promise.all([s3.stop(), blob.stop(), failing.stop()]))

/** A service that fails according to the key, and counts the connections of endless answers. */
async function startFailing(): Promise<FakeS3> {
  const total = 2_000_000
  const fake = await startFakeS3()
  const endless = new Set<Socket>()
  fake.answer = (req, res) => {
    const how = new URL(req.url!, fake.url).pathname.split('/').at(-1)
    if (how === 'open') return void res.end(String([...endless].filter((socket) => !socket.destroyed).length))
    if (how === 'refused') return void res.destroy()
    if (how === 'silent') return
    if (how === 'error') return void res.writeHead(500).end()
    const head = { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() }
    res.writeHead(200, head)
    if (how === 'endless') endless.add(req.socket)
    res.write(Buffer.alloc(how === 'endless' ? 100_000 : total / 2), () => {
      if (how === 'reset') setTimeout(() => res.socket?.resetAndDestroy(), 50)
      if (how === 'short') setTimeout(() => res.socket?.end(), 50)
    })
  }
  return fake
}

const failed = ['StorageUnavailableError', 'StorageUnavailableError']
const ways = ['refused', 'silent', 'reset', 'short', 'half', 'error']
const outage = {
  ...Object.fromEntries(['s3', 'azure'].flatMap((kind) => ways.map((way) => [`${kind} ${way}`, failed]))),
  open: 0,
}

const kind = {
  text: 'grüße',
  size: 7,
  contentType: 'text/x-own',
  large: 0,
  blob: ['image/png', 'blob'],
  moved: [false, 'grüße'],
  keys: ['blob', 'large', 'moved', 'streamed', 'ä b.txt'],
  streamed: 'one two',
  givenUp: true,
  missing: ['FileNotFoundError', 'FileNotFoundError', 'FileNotFoundError', 'undefined'],
  bad: 'StorageKeyError',
  failing: ['SOURCE', false],
  health: 'undefined',
}
const expected = {
  memory: kind,
  disk: kind,
  s3: kind,
  azure: kind,
  addresses: {
    sent: 204,
    whole: [200, 'application/json', '{"a":1}'],
    part: [206, '"a"'],
    forged: [403, 'StorageAddressError'],
    s3: 404,
    azure: 404,
  },
}

test.each(
  targets.map((target) => [target.name, target] as const),
)('storages of every kind on %s', async (name, target) => {
  // Which server answers requests does not matter to it.
  const asksOutage = target.adapter === undefined
  const services = [s3.url, blob.connectionString, asksOutage ? failing.url : '']
  const own = [target.adapter ?? '', name.replaceAll(/\W/g, '-'), ...services]
  expect(await resultOf(target, 'storage.mjs', own, { timeout: 80_000 })).toEqual(
    asksOutage ? { ...expected, outage } : expected,
  )
})
