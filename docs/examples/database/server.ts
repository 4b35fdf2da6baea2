import { Server } from 'framework'
import { migrations } from './migrations.ts'
import { printer } from './orders.ts'

export function makeServer(url: string, print: (order: string) => void = () => {}) {
  return new Server({
    plugins: {
      health: true,
      database: { url, migrations, pool: { max: 10 }, statementTimeout: 10_000 },
      queues: { config: { pgboss: { connectionString: url, pollInterval: 200 } }, run: true },
      printer: printer({ print }),
    },
  })
}
