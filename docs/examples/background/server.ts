import { type MemoryTransport, Server } from 'framework'
import { type DigestOptions, digests } from './digests.ts'

export interface AppOptions extends DigestOptions {
  readonly transporter: string | MemoryTransport
}

export function makeServer({ transporter, ...options }: AppOptions) {
  return new Server({
    port: 0,
    plugins: {
      mailer: { providers: { main: { transporter, from: 'shop@example.org' } }, defaultProvider: 'main' },
      cron: { crons: [] },
      queues: { run: true },
      digests: digests(options),
    },
  })
}
