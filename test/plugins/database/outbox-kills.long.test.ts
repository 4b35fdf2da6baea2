import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outboxKillRounds } from '../../support/outbox-kills.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// Two hundred rounds; SEED repeats those that have failed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))

describe.skipIf(!hasPostgres)('while processes and Postgres die and stop', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())

  test.each(
    [...Array(8).keys()].map((i) => seed + i),
  )('what is committed is delivered in order, what is rolled back is not, and once is once, seed %i', async (own) => {
    const report = await outboxKillRounds(postgres, own, 25)
    console.log(own, JSON.stringify(report))
    expect(report.handled).toBe(report.written)
  })
})
