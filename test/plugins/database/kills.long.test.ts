import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onceKillRounds } from '../../support/once-kills.ts'
import { outboxKillRounds } from '../../support/outbox-kills.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// Two hundred rounds of each; SEED repeats those that have failed.

const first = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))

describe.skipIf(!hasPostgres).each([...Array(8).keys()].map((i) => first + i))(
  'while processes and Postgres die and stop, seed %i',
  (seed) => {
    let postgres: OwnServer
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres?.stop())

    test('what is committed is delivered in order, what is rolled back is not, and once is once', async () => {
      const report = await outboxKillRounds(postgres, seed, 25)
      console.log(seed, JSON.stringify(report))
      expect(report.handled).toBe(report.written)
    })

    test('a request with a key and a webhook have one effect and a response', async () => {
      const report = await onceKillRounds(postgres, seed, 25, true)
      console.log(seed, JSON.stringify(report))
      expect(report.withoutResponse).toBe(0)
    })
  },
)
