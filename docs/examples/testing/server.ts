import { type MemoryTransport, Server } from 'framework'
import { customers } from './customers.ts'
import { receipts } from './orders.ts'
import { HttpRates, type Rates, rates } from './rates.ts'

export interface AppOptions {
  /** What lies outside the process; tests pass their own. */
  readonly rates?: Rates
  readonly transporter?: string | MemoryTransport
  readonly log?: boolean | { stream: { write(line: string): void } }
}

/** The whole application. It does not listen: `index.ts` does that, and tests do not need it. */
export function makeServer(options: AppOptions = {}) {
  const { transporter = 'smtp://127.0.0.1', log = true } = options
  return new Server({
    plugins: {
      log,
      session: { secret: process.env.SESSION_SECRET ?? 'a-secret-for-development-only-0123456789' },
      mailer: { providers: { main: { transporter, from: 'shop@example.org' } }, defaultProvider: 'main' },
      queues: { run: true },
      customers: customers(),
      rates: rates({ client: options.rates ?? new HttpRates('https://rates.example.com') }),
      receipts: receipts(),
    },
  })
}
