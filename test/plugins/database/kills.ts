import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onceKillRounds } from '../../support/once-kills.ts'
import { outboxKillRounds } from '../../support/outbox-kills.ts'
import type { OwnServer } from '../../support/own-server.ts'

const first = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))
const seeds = [...Array(8).keys()].map((i) => first + i)

/** Two hundred rounds of each; SEED repeats those that have failed. */
export function describeKills(name: string, isThere: boolean, start: () => Promise<OwnServer>): void {
  describe.skipIf(!isThere).each(seeds)(`while processes and ${name} die and stop, seed %d`, (seed) => {
    let started: OwnServer
    beforeAll(async () => {
      started = await start()
    })
    afterAll(() => started?.stop())

    test('what is committed is delivered in order, what is rolled back is not, and once is once', async () => {
      const report = await outboxKillRounds(started, seed, 25)
      console.log(seed, JSON.stringify(report))
      expect(report.handled).toBe(report.written)
    })

    test('a request with a key and a webhook have one effect and a response', async () => {
      const report = await onceKillRounds(started, seed, 25, true)
      console.log(seed, JSON.stringify(report))
      expect(report.withoutResponse).toBe(0)
    })
  })
}
