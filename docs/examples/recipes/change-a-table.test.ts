import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer, steps } from './change-a-table.ts'

test('the new version reads rows of the old one, and the old one rows of the new', async () => {
  await using server = await testServer(makeServer)
  await server.ready()
  const database = server.services.get('database')
  await database.query("insert into people (name) values ('Ada Lovelace')")
  ;(await server.inject.post('/people', { body: { first: 'Grace', last: 'Hopper' } })).assertStatus(201)
  const people = [
    { first: 'Ada', last: 'Lovelace' },
    { first: 'Grace', last: 'Hopper' },
  ]
  ;(await server.inject.get('/people')).assertBodyDeepEqual(people)
  await database.query(steps['004-fill-names'])
  expect((await database.query('select name, first, last from people')).rows).toEqual([
    { name: 'Ada Lovelace', ...people[0] },
    { name: 'Grace Hopper', ...people[1] },
  ])
})
