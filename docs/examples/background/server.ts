import { type CronClock, type MemoryTransport, Server } from 'framework'
import { type DigestOptions, digests } from './digests.ts'

export interface AppOptions extends DigestOptions {
  readonly transporter: string | MemoryTransport
  readonly clock?: CronClock
}

export function makeServer({ transporter, clock, ...options }: AppOptions) {
  return new Server({
    port: 0,
    plugins: {
      mailer: { providers: { main: { transporter, from: 'shop@example.org' } }, defaultProvider: 'main' },
      cron: { crons: [], ...(clock && { clock }) },
      queues: { run: true },
      digests: digests(options),
    },
  })
}
