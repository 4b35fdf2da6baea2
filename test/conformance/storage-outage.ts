import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts'
import { resultOf, type Target } from './targets.ts'

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

/** What becomes of reading from a service that fails. */
export function describeOutage(targets: readonly Target[], rounds: number): void {
  describe('a storage that fails', () => {
    let failing: FakeS3
    beforeAll(async () => {
      failing = await startFailing()
    })
    afterAll(() => failing.stop())

    test.each(targets)('ends each read, and leaves no connection open: $name', async (target) => {
      expect(await resultOf(target, 'storage-outage.mjs', [failing.url, String(rounds)])).toEqual(outage)
    })
  })
}
