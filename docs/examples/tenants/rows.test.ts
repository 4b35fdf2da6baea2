import { readFileSync } from 'node:fs'
import { testServer } from 'framework/testing'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { makeServer } from './rows.ts'

const page = readFileSync(new URL('../../plugins/tenant.md', import.meta.url), 'utf8')
const policy = /```sql\n([^`]*)```/.exec(page)![1]!

test.skipIf(!hasPostgres)('with the policy of the page, a query has the rows of its tenant alone', async () => {
  const postgres = await startPostgres()
  const admin = new Client({ connectionString: postgres.url })
  await admin.connect()
  await admin.query('create role shop login; create table invoices (tenant text not null, total integer)')
  await admin.query("insert into invoices values ('acme', 1), ('globex', 2); alter table invoices owner to shop")
  await admin.query(policy)
  await admin.end()
  const url = Object.assign(new URL(postgres.url), { username: 'shop' }).href
  {
    await using server = await testServer(() => makeServer(url, (req) => String(req.headers['x-tenant'])))
    const get = (path: string, tenant: string) => server.inject.get(path, { headers: { 'x-tenant': tenant } })
    ;(await get('/forgotten', 'acme')).assertStatus(500)
    for (const [tenant, total] of [
      ['acme', 1],
      ['globex', 2],
      ['acme', 1],
    ] as const) {
      expect((await get('/invoices', tenant)).body()).toEqual([{ tenant, total }])
      // After the first setting of a connection it is an empty text.
      ;(await get('/forgotten', tenant)).assertStatus(200).assertBodyDeepEqual([])
    }
  }
  const shop = new Client({ connectionString: url })
  await shop.connect()
  await shop.query("set app.tenant = 'acme'")
  await expect(shop.query("insert into invoices values ('globex', 3)")).rejects.toThrow('row-level security')
  expect((await shop.query('update invoices set total = 0')).rowCount).toBe(1)
  await shop.end()
  await postgres.stop()
})
