import { OptionError } from '../../../kernel/index.ts'
import { variable } from '../environment/process.ts'
import { option } from '../options/index.ts'

const kinds = {
  redis: {
    protocols: /^rediss?:\/\//,
    variable: 'REDIS_URL',
    fallback: 'redis://127.0.0.1:6379',
    example: '"redis://user:password@127.0.0.1:6379", with "%2F" for "/" in a password, and so on',
  },
  postgres: {
    protocols: /^postgres(ql)?:\/\//,
    variable: 'DATABASE_URL',
    fallback: 'postgres://127.0.0.1:5432/postgres',
    example: '"postgres://user:password@127.0.0.1:5432/database", with "%2F" for "/" in a password, and so on',
  },
  mysql: {
    ...{ protocols: /^(mysql|mariadb):\/\//, variable: '', fallback: '' },
    example: '"mysql://user:password@127.0.0.1:3306/database", with "%2F" for "/" in a password, and so on',
  },
  http: { protocols: /^https?:\/\//, variable: '', fallback: '', example: '"http://127.0.0.1:9324"' },
} as const

/** An example of an address of that kind, for messages. */
export const addressLike = (kind: keyof typeof kinds) => `an address such as ${kinds[kind].example}`

export function isAddress(kind: keyof typeof kinds, value: unknown): value is string {
  if (typeof value !== 'string' || !kinds[kind].protocols.test(value) || !URL.canParse(value)) return false
  // With "/" or "#" in a password, the rest of it would count as the path and be shown.
  const { pathname, hash } = new URL(value)
  if (kind === 'redis' && !/^\/?\d*$/.test(pathname)) return false
  return hash === '' && !pathname.includes('@')
}

/** An option for an address; no message or listing shows it. */
export const addressOption = (kind: keyof typeof kinds) =>
  option.value<string>(addressLike(kind), (given) => isAddress(kind, given)).secret()

/** The given address, otherwise the one in the environment, otherwise the default. */
export function addressOf(kind: 'redis' | 'postgres', given: string | undefined): string {
  const { variable: name, fallback } = kinds[kind]
  const address = given ?? variable(name) ?? fallback
  if (isAddress(kind, address)) return address
  throw OptionError(
    given === undefined ? `${name} (of the environment)` : `the ${kind} url`,
    address,
    addressLike(kind),
  )
}

/** An address for messages, without the parts that may contain a password: before the host, and after the question mark. */
export function shownAddress(address: string): string {
  const { protocol, host, pathname } = new URL(address)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

/** Options of pg, Postgres.js and pg-boss with which they connect to something else than their address. */
const ofPlace = 'db connectionString database host hostname path port socket stream user username'.split(' ')

/**
 * The database of an address of Postgres and its user, to compare them; `undefined` where options of the package may replace them, or where the
 * packages would choose the database, each in its own way. A port that is not written is another place: PGPORT may have it.
 */
export function placeOf(address: string, options: object = {}): string | undefined {
  const { username, hostname, port, pathname, search } = new URL(address)
  if (pathname.length < 2 || ofPlace.some((name) => name in options)) return undefined
  return `${username}@${hostname}:${port}${pathname}${search}`
}

/** How the folders begin in which `testDatabase` has files of SQLite. */
export const testDatabaseFolder = 'framework-test-database-'
