import { expect, test } from 'vitest'
import { placeOf } from '../../../../plugins/shared/stores/address.ts'

const at = 'postgres://app:one@db.internal:5432/shop?sslmode=require'

test('the same database has one place, whatever the password and the name of the protocol', () => {
  expect(placeOf(at)).toBe(placeOf(at.replace('postgres', 'postgresql').replace('one', 'tw%40')))
  const socket = 'postgres://app@%2Fvar%2Frun%2Fpostgresql/shop'
  expect(placeOf(socket)).toBe(placeOf(socket, { max: 3, ssl: true, connection: { search_path: 'a' } }))
  expect(placeOf(socket)).toBeDefined()
})

test.each([
  ['another user', at.replace('app', 'boss')],
  ['another host', at.replace('db.internal', 'localhost')],
  ['another port', at.replace('5432', '6432')],
  ['no port, which PGPORT may have', at.replace(':5432', '')],
  ['another name', at.replace('shop', 'Shop')],
  ['other parameters', at.replace('?sslmode=require', '?host=/tmp')],
])('%s is another place', (_, other) => {
  expect(placeOf(other)).not.toBe(placeOf(at))
})

test.each<[address: string, options: object]>([
  ['postgres://app@db.internal:5432', {}],
  ['postgres://app@db.internal:5432/', {}],
  ...['host', 'hostname', 'username', 'path', 'socket', 'stream', 'db'].map((name): [string, object] => [
    at,
    { [name]: 'x' },
  ]),
])('%s with %o may be any database', (address, options) => {
  expect(placeOf(address, options)).toBeUndefined()
})
