import type { DatabaseOptions } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { lookAt, makeServer, servers } from '../inspector/support.ts'

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function serve(database: DatabaseOptions = {}, more: object = {}) {
  const made = makeServer(true, { database: { url: 'sqlite::memory:', ...database }, ...more })
  made.server.get('/books', async (req) => {
    const { database } = req
    await database.query('select 1 as one where 2 =  ?', ['hunter2'])
    for (let i = 0; i < 6; i++) await database.query('select ? as n', [i])
    await database.query('broken').catch(() => {})
    return {}
  })
  return made
}

describe('queries are seen', () => {
  test('by the inspector, as parts of their request: rows, failures, and the same one again and again', async () => {
    const { server } = serve()
    const look = await lookAt(server)
    ;(await server.inject.get('/books')).assertStatus(200)
    const { id, trace } = await look.newest('request')
    const all = (await look.list('database')).filter((one) => one.trace === trace).reverse()
    expect(all.map(({ title, note, outcome, parent }) => ({ title, note, outcome, parent }))).toEqual([
      { title: 'select 1 as one where 2 = ?', note: '0 rows', outcome: 'ok', parent: id },
      ...[1, 2, 3, 4].map(() => ({ title: 'select ? as n', note: '1 row', outcome: 'ok', parent: id })),
      { title: 'select ? as n', note: '1 row, 5 times here', outcome: 'ok', parent: id },
      { title: 'select ? as n', note: '1 row, 6 times here', outcome: 'ok', parent: id },
      { title: 'broken', note: '', outcome: 'failed', parent: id },
    ])
    expect((await look.details(all[0]!.id)).data).toMatchObject({ values: ['hunter2'], rows: 0 })
  })

  test('by the metrics: durations by operation, and the pool', async () => {
    const { server } = serve({}, { metrics: true })
    await server.ready()
    await server.inject.get('/books')
    const text = (await server.inject.get('/metrics')).text()
    const lines = text.split('\n').filter((line) => /^(db|database)_\w+.*main/.test(line) && !line.includes('bucket'))
    expect(lines.join('\n')).toMatch(/operation="SELECT"\S* 8/)
    expect(lines.join('\n')).toMatch(/database_connections\{\S*database="main"\S* 1/)
  })

  test('by the log, where it is asked for, without values', async () => {
    const { server, log } = serve({ log: 'all', slowQuery: 0 })
    await server.ready()
    await server.inject.get('/books')
    const slow = log.filter(({ message }) => message === 'a slow query')
    expect(slow[1]).toMatchObject({ fields: { database: 'main', query: 'select 1 as one where 2 =  ?', rows: 0 } })
    expect(JSON.stringify(log)).not.toContain('hunter2')
  })

  test('not by the log otherwise', async () => {
    const { server, log } = serve()
    await server.ready()
    await server.inject.get('/books')
    expect(log.filter(({ message }) => /query/.test(String(message)))).toEqual([])
  })
})
