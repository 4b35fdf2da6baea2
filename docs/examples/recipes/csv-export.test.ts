import { testServer } from 'framework/testing'
import { expect, test } from 'vitest'
import { makeServer } from './csv-export.ts'

test('all rows are sent, and none of them is a formula', async () => {
  await using server = await testServer(makeServer)
  await server.ready()
  const database = server.services.get('database')
  await database.query("insert into orders (buyer, note) values ('Ada, of \"York\"', '=1+1'), ('Bob', null)")
  const more = Array.from({ length: 1500 }, () => "('x', 'y')").join(',')
  await database.query(`insert into orders (buyer, note) values ${more}`)
  const res = await server.inject.get('/orders.csv')
  res.assertStatus(200).assertHeader('content-type', 'text/csv; charset=utf-8')
  const lines = res.text().split('\r\n')
  expect(lines.slice(0, 3)).toEqual(['id,buyer,note', `1,"Ada, of ""York""",'=1+1`, '2,Bob,'])
  expect(lines).toHaveLength(1 + 1502 + 1)
})
