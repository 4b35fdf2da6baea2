import { createQueue, Server } from 'framework'
import type { Pool } from 'pg'
import { MailApi, type MailApiOptions } from './emails.ts'
import { limitTable, PostgresLimits } from './limits.ts'
import { messageTable, PostgresMessages } from './messages.ts'
import { objectTable, PostgresObjects } from './objects.ts'
import { PostgresSessions, sessionTable } from './sessions.ts'

declare module 'framework' {
  interface SessionData {
    visits: number
  }
}

export interface Settings {
  readonly pool: Pool
  readonly mailApi: MailApiOptions
}

export const tables = [sessionTable, limitTable, objectTable, messageTable].join(';')

export function makeServer({ pool, mailApi }: Settings) {
  const welcomes = createQueue<{ address: string }>('welcomes', new PostgresMessages(pool))
  const server = new Server({
    plugins: {
      session: { secret: 'only-for-this-example-0123456789', store: new PostgresSessions(pool) },
      rateLimit: { limit: 3, store: new PostgresLimits(pool) },
      storage: { providers: { files: new PostgresObjects(pool) } },
      mailer: {
        providers: { main: { transporter: new MailApi(mailApi), from: 'shop@example.org' } },
        defaultProvider: 'main',
      },
      queues: { run: true },
    },
  })
  server.post('/visits', (req) => {
    req.session.visits = (req.session.visits ?? 0) + 1
    return { visits: req.session.visits }
  })
  return { server, welcomes }
}
