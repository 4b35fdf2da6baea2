import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer } from './nightly-job.ts'

test('trials end in the night after their last day', async () => {
  await using server = await testServer(() => makeServer(), { clock: '2026-03-01T12:00:00Z' })
  await server.ready()
  const database = server.services.get('database')
  await database.query('insert into accounts (until) values ($1), ($2)', [
    new Date('2026-03-01T20:00:00Z'),
    new Date('2026-03-03T20:00:00Z'),
  ])
  const ended = async () => (await database.query("select id from accounts where state = 'ended'")).rows
  await server.clock.advance('1 day')
  await server.settled()
  expect(await ended()).toEqual([{ id: 1 }])
  await server.clock.advance('2 days')
  await server.settled()
  expect(await ended()).toEqual([{ id: 1 }, { id: 2 }])
})
