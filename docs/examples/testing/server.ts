import { Server } from 'framework'
import { customers } from './customers.ts'
import { receipts } from './orders.ts'
import { HttpRates, rates } from './rates.ts'

export interface AppOptions {
  readonly log?: boolean | { stream: { write(line: string): void } }
}

/** The whole application. It does not listen: `index.ts` does that, and tests do not need it. */
export function makeServer({ log = true }: AppOptions = {}) {
  return new Server({
    plugins: {
      log,
      session: { secret: process.env.SESSION_SECRET ?? 'a-secret-for-development-only-0123456789' },
      mailer: {
        providers: { main: { transporter: process.env.SMTP_URL ?? 'smtp://127.0.0.1', from: 'shop@example.org' } },
        defaultProvider: 'main',
      },
      queues: { run: true },
      customers: customers(),
      rates: rates({ client: new HttpRates('https://rates.example.com') }),
      receipts: receipts(),
    },
  })
}
