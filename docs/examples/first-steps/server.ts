import { memoryTransport, Server } from 'framework'
import { bookings } from './bookings.ts'
import './films.ts'
import { members } from './members.ts'
import { migrations } from './migrations.ts'
import { ratings } from './ratings.ts'

export interface Settings {
  /** Signs the cookies of sessions: at least 32 characters, of the environment. */
  readonly secret: string
  /** `smtp://…`; without it, emails stay in memory. */
  readonly smtp?: string
}

/** Makes the whole application. It does not listen: `index.ts` does, and tests do not need it. */
export function makeServer({ secret, smtp }: Settings) {
  return new Server({
    plugins: {
      log: true,
      helmet: true,
      health: true,
      rateLimit: { limit: 300 },
      csrf: true,
      session: { secret },
      auth: { schemes: { members }, default: 'optional' },
      database: { migrations },
      mailer: {
        providers: { main: { transporter: smtp ?? memoryTransport(), from: 'Cinema <cinema@example.org>' } },
        defaultProvider: 'main',
      },
      queues: { run: true },
      cron: { crons: [] },
      ratings: ratings({ max: 10 }),
      bookings: bookings(),
    },
  })
}
