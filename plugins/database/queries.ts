import { type Logger, systemClock, Trace, type TraceOutcome } from '../../kernel/index.ts'
import { isProduction } from '../shared/environment/node-env.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { Connection, DriverSettings, StatementRunner } from './drivers/contract.ts'

/** One statement of a database. */
export interface DatabaseTrace extends TraceOutcome {
  /** The name of the database: `main`. */
  readonly database: string
  /** `postgresql`, `mysql` or `sqlite`. */
  readonly system: string
  /** The statement, in which values are placeholders. */
  readonly text: string
  /** `SELECT`, `INSERT`: what it does, which no client can choose; `QUERY` for any other statement. */
  readonly operation: string
  /** The values of the placeholders. */
  readonly values: readonly unknown[]
  /** The number of rows that it has returned or changed, when it has ended. */
  rows?: number | undefined
  /** Milliseconds that it has taken, when it has ended. */
  ms?: number
  /** Whether it has taken `slowQuery` milliseconds or longer. */
  isSlow?: boolean
}

/** The database that a driver is opened for. */
export interface DriverHost {
  readonly name: string
  readonly reports: Reports
  /** The transaction of the running code. */
  running(): StatementRunner | undefined
  /** A connection of the pool, within `acquireTimeout`. */
  acquire(): Promise<Connection>
}

/** Makes the function that replaces `$1`, as in Postgres, outside of what `quoted` finds: strings, quoted names and comments. */
export function numberedBy(quoted: RegExp) {
  const numbered = new RegExp(`${quoted.source}|(?<![\\w$])\\$(\\d+)`, 'g')
  return (text: string, as: (number: number) => string) =>
    text.includes('$')
      ? text.replace(numbered, (all, number?: string) => (number === undefined ? all : as(Number(number))))
      : text
}

/** An object with some other methods, which its own methods use as well: `commit` of a connection is a query. */
export const overlaid = <Target extends object>(target: Target, own: Record<PropertyKey, unknown>): Target =>
  new Proxy(target, {
    get(target, name, proxy) {
      const value: unknown = Reflect.get(target, name)
      return own[name] ?? (typeof value === 'function' ? value.bind(proxy) : value)
    },
  })

const queryTrace = new Trace<DatabaseTrace>('database.query')

/** Reports the statements of one database to tracing tools and the log. */
export class Reports {
  readonly #about: { readonly database: string; readonly system: string }
  readonly #settings: DriverSettings
  readonly #log: Logger

  constructor(database: string, settings: DriverSettings, log: Logger) {
    this.#about = { database, system: settings.system }
    this.#settings = settings
    this.#log = log
  }

  /** Whether anything looks at the statements. */
  get areSeen(): boolean {
    return queryTrace.isOn || this.#settings.log !== 'none'
  }

  /** Runs a statement, and reports it if anything looks at it. */
  run<Result extends { readonly count?: number; readonly rowCount?: number | null }>(
    text: string,
    values: readonly unknown[],
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (!this.areSeen) return work()
    const event: DatabaseTrace = { ...this.#about, text, operation: operationOf(text), values }
    const begun = systemClock.monotonic()
    const seen = async () => {
      let result: Result | undefined
      try {
        result = await work()
        return result
      } finally {
        event.rows = result?.count ?? result?.rowCount ?? undefined
        event.ms = systemClock.monotonic() - begun
        event.isSlow = event.ms >= this.#settings.slowQuery
        this.#write(event)
      }
    }
    return queryTrace.run(() => event, seen)
  }

  /** Values are left out: they are what a client has sent, and its passwords do not belong in the log. */
  #write({ database, text, rows, ms, isSlow }: DatabaseTrace): void {
    const { log } = this.#settings
    if (log !== 'none' && isSlow) this.#log.warn({ database, query: text, rows, ms }, 'a slow query')
    else if (log === 'all') this.#log.info({ database, query: text, rows, ms }, 'a query')
  }
}

const operationOf = (text: string) =>
  /^\s*(?:with\b[\s\S]*?\b)?(select|insert|update|delete|merge|begin|commit|rollback|savepoint|release|create|alter|drop)\b/i
    .exec(text)?.[1]
    ?.toUpperCase() ?? 'QUERY'

const marks = ({ rows, isSlow }: DatabaseTrace) =>
  [rows !== undefined && `${rows} ${rows === 1 ? 'row' : 'rows'}`, isSlow && 'slow'].filter(Boolean).join(', ')

export const work: readonly WorkKind[] = [
  workKind<DatabaseTrace>({
    channel: 'database.query',
    role: 'call',
    list: { id: 'database', title: 'Queries' },
    help: 'Statements of databases',
    span: ({ operation, database }) => `${operation} ${database}`,
    title: ({ text }) => text.replace(/\s+/g, ' ').trim(),
    note: marks,
    // They are what clients have sent: names and addresses, and passwords in a query that compares them.
    data: ({ values, database, system, text, rows }) => ({
      ...{ database, system, text, rows },
      values: isProduction() ? `${values.length} values` : values,
    }),
    repeats: 5,
    labels: {
      database: { attribute: 'framework.database', of: ({ database }) => database },
      system: { attribute: 'db.system.name', of: ({ system }) => system },
      operation: { attribute: 'db.operation.name', of: ({ operation }) => operation },
    },
    attributes: ({ text }) => ({ 'db.query.text': text }),
    ended: ({ rows, isSlow }) => ({
      'db.response.returned_rows': rows,
      'framework.database.slow': isSlow || undefined,
    }),
    duration: { name: 'db.client.operation.duration', attributes: {} },
  }),
]
