import { Server } from 'framework'
import { database } from './database.ts'
import { printer } from './orders.ts'

export function makeServer(url: string, print: (order: string) => void = () => {}) {
  return new Server({
    plugins: {
      health: true,
      queues: { config: { pgboss: { connectionString: url, pollInterval: 200 } }, run: true },
      database: database({ url }),
      printer: printer({ print }),
    },
  })
}
