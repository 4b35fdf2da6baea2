import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasMariadb, startMariadb } from '../../support/mariadb.ts'
import { onceKillRounds } from '../../support/once-kills.ts'
import { outboxKillRounds } from '../../support/outbox-kills.ts'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'

// Two hundred rounds of each; SEED repeats those that have failed.

const first = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))

const kinds = [
  { name: 'Postgres', has: hasPostgres, start: startPostgres },
  { name: 'MySQL', has: hasMariadb, start: startMariadb },
]
const seeds = [...Array(8).keys()].map((i) => first + i)

describe.each(
  kinds.filter(({ has }) => has).flatMap((kind) => seeds.map((seed) => ({ ...kind, seed }))),
)('while processes and $name die and stop, seed $seed', ({ start, seed }) => {
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
