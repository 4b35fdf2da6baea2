import { systemClock } from '../../../kernel/index.ts'
import { peer } from '../environment/optional-package.ts'
import { addressOf, shownAddress } from '../stores/address.ts'
import type { DoctorCheck, DoctorInput } from './check.ts'
import { clockFinding, readingOf, responseOf } from './clock.ts'

interface AskedClient {
  query(text: string): Promise<{ readonly rows: readonly object[] }>
}

/** The Postgres that a plugin uses: an address with options for a client of `pg`, or a client or pool of the application. */
export type UsedPostgres =
  | { readonly address: { readonly url?: string | undefined } }
  | { readonly client: AskedClient }

/** The check of the clock of the Postgres that a plugin uses. */
export function postgresClock<Settings>(
  usedBy: string,
  of: (input: DoctorInput<Settings>) => UsedPostgres | undefined,
): DoctorCheck<Settings> {
  return {
    code: 'postgres.clock',
    level: 'warning',
    network: true,
    async find(input) {
      const used = of(input)
      if (used === undefined) return undefined
      const { where, asked } =
        'client' in used ? { where: given, asked: ask(used.client) } : askAt(used.address, usedBy)
      return clockFinding(where, await responseOf(where, asked))
    },
  }
}

const given = 'the Postgres of the given client'

/** Asks at an address; `where` is for messages, without the password. */
function askAt({ url, ...options }: { readonly url?: string | undefined }, usedBy: string) {
  if (url === undefined && 'host' in options)
    return { where: `Postgres at ${String(options.host)}`, asked: askWith(options, usedBy) }
  const connectionString = addressOf('postgres', url)
  const asked = askWith({ connectionString, ...options }, usedBy)
  return { where: `Postgres at ${shownAddress(connectionString)}`, asked }
}

async function askWith(options: object, feature: string) {
  const { default: pg } = await peer('pg', () => import('pg'), feature)
  const client = new pg.Client({ connectionTimeoutMillis: 2_000, query_timeout: 2_000, ...options })
  // A connection that breaks later emits an event, which would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return await ask(client)
  } finally {
    void client.end().catch(() => {})
  }
}

async function ask(client: AskedClient) {
  const before = systemClock.now()
  const { rows } = await client.query('select extract(epoch from clock_timestamp()) * 1000 as now')
  return readingOf(Number((rows[0] as { now: unknown }).now), before, systemClock.now())
}
