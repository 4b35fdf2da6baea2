import { type DatabaseClient, type LayerOf, once, type QueryResult, Server } from 'framework'
import type { Equal, Expect } from './expect.ts'

declare module 'framework' {
  interface DatabaseLayers {
    typed: { readonly isTyped: true }
  }
}

export type Layers = [
  Expect<Equal<LayerOf<'typed'>, { readonly isTyped: true }>>,
  Expect<Equal<LayerOf<'another'>, DatabaseClient>>,
]

const server = new Server({
  plugins: {
    database: {
      url: 'postgres://localhost/app',
      pool: { max: 5 },
      named: { typed: { url: 'sqlite::memory:', layer: () => ({ isTyped: true as const }) } },
    },
  },
})

const twice = 2
server.get('/', { transaction: { isolation: 'serializable', readOnly: true, retry: twice } }, async (req) => {
  const result = await req.database.query<{ id: number }>('select id from books where id = $1', [1])
  const typed: QueryResult<{ id: number }> = result
  return { id: typed.rows[0]?.id, isTyped: server.services.get('databases').get('typed').isTyped }
})

new Server({ plugins: { database: { url: 'mysql://localhost/app', driver: 'mysql2' } } })
// @ts-expect-error another package
new Server({ plugins: { database: { url: 'mysql://localhost/app', driver: 'mysql' } } })

// @ts-expect-error there is no such level
server.get('/level', { transaction: { isolation: 'snapshot' } }, () => ({}))
// @ts-expect-error a misspelt member
server.get('/misspelt', { transaction: { retries: 2 } }, () => ({}))
const untyped = () => ({ isTyped: false })
// @ts-expect-error the layer is not that of the merged type
new Server({ plugins: { database: { named: { typed: { url: 'sqlite::memory:', layer: untyped } } } } })
// @ts-expect-error a named database needs an address
new Server({ plugins: { database: { named: { other: {} } } } })

new Server({ plugins: { database: { outbox: { table: 'shop.outbox', pollInterval: 500 }, inbox: { keep: 1_000 } } } })
// @ts-expect-error a misspelt member
new Server({ plugins: { database: { outbox: { interval: 500 } } } })
new Server({ plugins: { database: { outbox: { listen: false } } } })
// @ts-expect-error whether it listens, and not where
new Server({ plugins: { database: { outbox: { listen: 'channel' } } } })
// @ts-expect-error the ids of the inbox are strings
void once(7, () => {})
const wasDone: Promise<boolean> = once('7', () => {})
void wasDone
