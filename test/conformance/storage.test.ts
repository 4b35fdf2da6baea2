import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BlobServer, startBlob } from '../support/blob.ts'
import type { OwnServer } from '../support/own-server.ts'
import { startS3 } from '../support/s3.ts'
import { describeOutage } from './storage-outage.ts'
import { resultOf, runtimeKinds } from './targets.ts'

let s3: OwnServer
let blob: BlobServer
beforeAll(async () => {
  ;[s3, blob] = await Promise.all([startS3(), startBlob()])
  await BlobServiceClient.fromConnectionString(blob.connectionString).createContainer('objects')
})
afterAll(() => Promise.all([s3.stop(), blob.stop()]))

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
  runtimeKinds.map((target) => [target.name, target] as const),
)('storages of every kind on %s', async (name, target) => {
  const own = [target.adapter ?? '', name.replaceAll(/\W/g, '-'), s3.url, blob.connectionString]
  expect(await resultOf(target, 'storage.mjs', own)).toEqual(expected)
})

// The short form: versions and servers do not matter to a client.
const few = runtimeKinds.filter(({ name }) => ['node', 'bun', 'deno'].includes(name))
describeOutage(few, 3)
