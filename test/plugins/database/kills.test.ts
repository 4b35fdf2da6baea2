import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onceKillRounds } from '../../support/once-kills.ts'
import { outboxKillRounds } from '../../support/outbox-kills.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// kills.long.test.ts has two hundred rounds, and kills-mysql.long.test.ts as many of MySQL, whose statements outbox.test.ts has; SEED repeats those that have failed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))
const rounds = Number(process.env.ROUNDS ?? 3)

describe.skipIf(!hasPostgres)('while processes and Postgres die and stop', () => {
  let started: OwnServer
  beforeAll(async () => {
    started = await startPostgres()
  })
  afterAll(() => started?.stop())

  test('what is committed is delivered in order, what is rolled back is not, and once is once', async () => {
    const report = await outboxKillRounds(started, seed, rounds)
    expect(report.handled).toBe(report.written)
  })

  test('a request with a key and a webhook have one effect, however often they are sent', async () => {
    const report = await onceKillRounds(started, seed, rounds, false)
    expect(report.orders + report.hooks).toBeGreaterThan(report.withoutResponse)
  })
})
