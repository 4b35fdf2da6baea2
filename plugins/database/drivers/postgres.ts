import { peer } from '../../shared/environment/optional-package.ts'
import type { DriverHost } from '../queries.ts'
import { type DriverSettings, limitsOf, type OpenDriver, postgresBegin } from './contract.ts'

/** Opens a pool of `postgres` (Postgres.js). */
export async function openPostgresJs(settings: DriverSettings, { reports }: DriverHost): Promise<OpenDriver> {
  const { default: postgres } = await peer(
    'postgres',
    () => import('postgres'),
    'the plugin database (driver postgres)',
  )
  const { url, pool } = settings
  const ofClient = {
    connect_timeout: pool.acquireTimeout / 1_000,
    onnotice: () => {},
    connection: limitsOf(settings),
    ...settings.options,
  }
  const sql = postgres(url, { max: pool.max, idle_timeout: pool.idleTimeout / 1_000, ...ofClient })
  // It would wait for ever where nothing listens.
  await sql.unsafe('select 1')
  // The package says neither how many connections it has nor how many callers wait.
  let [waiting, used, size] = [0, 0, 0]
  const queryOf = (one: Pick<typeof sql, 'unsafe'>) => (text: string, values: readonly unknown[]) =>
    reports.run(text, values, async () => {
      const all = await one.unsafe(text, [...values] as never[], { prepare: values.length > 0 })
      // Several statements have an array of results.
      const rows = all.command === undefined ? ((all.at(-1) ?? all) as unknown as typeof all) : all
      return { rows: [...rows] as never[], count: rows.count ?? rows.length, command: rows.command }
    })
  const query = queryOf(sql)
  return {
    query(text, values) {
      // It would wait without a limit.
      if (used >= pool.max) return undefined
      size = Math.max(size, ++used)
      return query(text, values).finally(() => used--)
    },
    async connect() {
      waiting++
      const reserved = await sql.reserve().finally(() => waiting--)
      size = Math.max(size, ++used)
      return {
        query: queryOf(reserved),
        release(isBroken) {
          used--
          if (!isBroken) return reserved.release()
          // The package has no way to close one connection, which may still be in a transaction.
          const end = reserved.unsafe('select pg_terminate_backend(pg_backend_pid())')
          void end.catch(() => {}).then(() => reserved.release())
        },
      }
    },
    async listen(channel, on, until) {
      // Its own `listen` says nothing of a lost connection, and gives up after one attempt to come back.
      const onnotify = (_: string, payload: string) => on.message(payload)
      const own = { ...ofClient, max: 1, max_lifetime: null, idle_timeout: 0, onnotify, onclose: on.lost }
      const one = postgres(url, own)
      try {
        await one.unsafe(`listen ${channel}`)
        on.open()
        await until
      } finally {
        await one.end()
      }
    },
    counts: () => ({ size, idle: size - used, waiting }),
    begin: postgresBegin,
    close: () => sql.end(),
  }
}
