import { memoryTransport } from 'framework'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Digest, digestQueue, type SentDigests } from './digests.ts'
import { makeServer } from './server.ts'

const keyOf = ({ address, day }: Digest) => `${day} ${address}`
const noted = new Set<string>()
const sent: SentDigests = {
  claim: async (digest) => !noted.has(keyOf(digest)) && noted.add(keyOf(digest)) !== undefined,
  release: async (digest) => void noted.delete(keyOf(digest)),
}
const addresses = async () => ['ada@example.org', 'bob@example.org']
const outbox = memoryTransport()
const dead: Digest[] = []

let clock: TestClock
let server: ReturnType<typeof makeServer>
beforeEach(async () => {
  noted.clear()
  outbox.clear()
  dead.length = 0
  clock = testClock('2026-03-01T05:00:00Z')
  server = makeServer({ transporter: outbox, addresses, sent, onDead: (digest) => void dead.push(digest) })
  await server.listen()
})
afterEach(async () => {
  await server.close()
  clock.restore()
})

test('everyone gets a digest, each morning', async () => {
  await clock.advanceTo('2026-03-02T12:00:00Z')
  outbox.assertCount(4).assertSent({ to: 'bob@example.org', subject: 'Your 2026-03-02' })
})

test('an email that does not leave is tried again', async () => {
  outbox.failNext()
  await clock.advanceTo('2026-03-01T12:00:00Z')
  outbox.assertCount(2)
  expect(await server.services.queues.of('digests').counts()).toMatchObject({ delayed: 0, failed: 0 })
})

test('a message that comes twice is one email', async () => {
  const digest = { address: 'ada@example.org', day: '2026-03-01' }
  await digestQueue.publishMany([digest, digest])
  await clock.advance('1 s')
  outbox.assertCount(1)
})

test('what fails five times is given up, and someone hears of it', async () => {
  await digestQueue.publish({ address: 'not an address', day: '2026-03-01' }, { attempts: 5, backoff: 60_000 })
  await clock.advance('5 min')
  expect(dead).toEqual([{ address: 'not an address', day: '2026-03-01' }])
  expect(await server.services.queues.of('digests').list()).toMatchObject([{ state: 'failed', attempt: 5 }])
})
