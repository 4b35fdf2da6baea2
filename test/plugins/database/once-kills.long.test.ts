import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onceKillRounds } from '../../support/once-kills.ts'
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
  )('a request with a key and a webhook have one effect and a response, seed %i', async (own) => {
    const report = await onceKillRounds(postgres, own, 25, true)
    console.log(own, JSON.stringify(report))
    expect(report.unanswered).toBe(0)
  })
})
