import { type DoctorCheck, type DoctorFinding, type DoctorInput, productionWarning } from '../shared/doctor/check.ts'
import type { DatabaseSettings, DatabasesSettings } from './options.ts'

const all = ({ settings }: DoctorInput<DatabasesSettings>): [name: string, settings: DatabaseSettings][] =>
  Object.entries({ main: settings.main, ...settings.named })

const allowed = {
  postgresql: `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as n`,
  mysql: 'select @@max_connections as n',
}

export const checks: readonly DoctorCheck<DatabasesSettings>[] = [
  productionWarning('database.memory', (input) =>
    all(input)
      .filter(([, { url }]) => url === 'sqlite::memory:')
      .map(([name]) => ({
        problem: `the database "${name}" is in memory: its data is lost when the process ends`,
        remedy: 'Set its url (DATABASE_URL) to a file, sqlite:data/app.sqlite, or to a server',
      })),
  ),
  {
    code: 'database.no-statement-timeout',
    level: 'warning',
    find: (input) =>
      all(input)
        .filter(([, { system, statementTimeout }]) => system !== 'sqlite' && statementTimeout === false)
        .map(([name]) => ({
          problem: `a statement of the database "${name}" may run forever and keep its connection and its locks`,
          remedy: 'Set statementTimeout, and a longer one of the database where a statement needs it',
        })),
  },
  {
    code: 'database.migrations-pending',
    level: 'warning',
    network: true,
    async find(input) {
      const found: DoctorFinding[] = []
      const remedy = 'Run them: npm run framework -- migrate'
      for (const [name] of input.booted ? all(input) : []) {
        const names = (await input.services.get('databases').pendingMigrations(name)).join(', ')
        if (names !== '') found.push({ problem: `migrations of the database "${name}" have not run: ${names}`, remedy })
      }
      return found
    },
  },
  {
    code: 'database.pool-too-large',
    level: 'warning',
    network: true,
    async find(input) {
      const found: DoctorFinding[] = []
      for (const [name, { system, pool, outbox }] of input.booted ? all(input) : []) {
        if (system === 'sqlite') continue
        const { rows } = await input.services.get('databases').client(name).query<{ n: number }>(allowed[system])
        const listens = system === 'postgresql' && outbox && outbox.listen !== false
        const most = (pool.max + (listens ? 1 : 0)) * (input.server.worker?.of ?? 1)
        if (most > rows[0]!.n)
          found.push({
            problem: `the pools of the database "${name}" may open ${most} connections in all processes, but the server allows ${rows[0]!.n}`,
            remedy: 'Lower pool.max, run fewer workers, or put a pooler before the server',
          })
      }
      return found
    },
  },
  {
    code: 'database.outbox-stuck',
    level: 'warning',
    network: true,
    async find({ booted, services }) {
      const all = booted ? await services.get('databases').outboxes() : []
      return all
        .filter(({ oldest }) => oldest > 300)
        .map(({ database, sender, messages, oldest }) => ({
          problem: `the outbox of the database "${database}" has ${messages} messages of ${sender}, the oldest for ${Math.round(oldest / 60)} minutes`,
          remedy:
            'Look at the column error of its table: register the plugin that sends them, or correct the address that it sends to',
        }))
    },
  },
]
