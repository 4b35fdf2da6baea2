import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo, Server as TcpServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServer } from './mysql.ts'

interface Connection {
  sequenceId: number
  on(event: 'query', heard: (sql: string) => void): void
  on(event: 'error' | 'quit', heard: () => void): void
  serverHandshake(options: object): void
  writeOk(result?: object): void
  writeColumns(columns: object[]): void
  writeTextRow(values: string[]): void
  writeEof(): void
}

// A server that speaks the protocol of MySQL, with one book: the package has one, without types.
const { createServer } = createRequire(import.meta.url)('mysql2') as {
  createServer(handler: (connection: Connection) => void): {
    listen(port: number): { _server: TcpServer }
    close(): void
  }
}
const asked: string[] = []
let copies = 1
const database = createServer((connection) => {
  connection.serverHandshake({
    protocolVersion: 10,
    serverVersion: '8.4.0',
    connectionId: 1,
    statusFlags: 2,
    characterSet: 8,
    capabilityFlags: 0xffffff & ~0x800,
    authCallback(_given: unknown, done: (error: null) => void) {
      done(null)
      connection.sequenceId = 0
    },
  })
  connection.on('error', () => {})
  connection.on('query', (sql) => {
    asked.push(sql)
    connection.sequenceId = 1
    if (sql.startsWith('select id')) {
      const common = {
        catalog: 'def',
        schema: '',
        table: 'books',
        orgTable: 'books',
        characterSet: 33,
        columnLength: 99,
      }
      connection.writeColumns(
        ['id', 'title'].map((name) => ({ ...common, name, orgName: name, columnType: 253, flags: 0, decimals: 0 })),
      )
      if (sql.includes("'1'")) connection.writeTextRow(['1', 'Kindred'])
      connection.writeEof()
    } else if (sql.startsWith('update')) connection.writeOk({ affectedRows: copies-- > 0 ? 1 : 0 })
    else connection.writeOk({ insertId: 7 })
    connection.sequenceId = 0
  })
})
let server: ReturnType<typeof makeServer>
beforeAll(async () => {
  const { _server } = database.listen(0)
  if (!_server.listening) await once(_server, 'listening')
  server = makeServer(`mysql://root@127.0.0.1:${(_server.address() as AddressInfo).port}/shop`)
})
afterAll(async () => {
  await server.close()
  database.close()
})

test('a handler queries the pool, and an order is one transaction', async () => {
  ;(await server.inject.get('/books/1')).assertBodyDeepEqual({ id: '1', title: 'Kindred' })
  ;(await server.inject.get('/books/2')).assertStatus(404)
  asked.length = 0
  ;(await server.inject.post('/books/1/orders')).assertBodyDeepEqual({ order: 7 })
  expect(asked.map((sql) => sql.split(' ')[0]!.toLowerCase())).toEqual(['start', 'update', 'insert', 'commit'])
  asked.length = 0
  ;(await server.inject.post('/books/1/orders')).assertStatus(409)
  expect(asked.at(-1)?.toLowerCase()).toBe('rollback')
  ;(await server.inject.get('/health/ready')).assertBodySubset({ checks: { mysql: 'ok' } })
})

test('a database that is away fails the boot', async () => {
  const lost = makeServer('mysql://root@127.0.0.1:9/shop')
  await expect(lost.ready()).rejects.toThrow(/mysql/)
})
