import { fileURLToPath } from 'node:url'
import { Server } from 'framework'
import { answerError, answerInvalid } from './errors.ts'
import { freshness } from './plugins/freshness.ts'
import { type LibraryOptions, library } from './plugins/library.ts'
import { answerDenial } from './policies.ts'
import './routes/index.ts'

export interface DemoOptions extends LibraryOptions {
  /** Turned off by the tests. */
  log?: boolean
}

/** The whole application, not listening yet: `main.ts` listens, tests use it as it is. */
export function makeServer({ log = true, ...options }: DemoOptions = {}) {
  const server = new Server({
    controllerPatterns: [fileURLToPath(new URL('controllers/*.ts', import.meta.url))],
    plugins: {
      log,
      health: true,
      cors: { origin: '*' },
      json: { sizeLimit: '10kb' },
      cache: { defaultTtl: 60 },
      library: library(options),
      freshness: freshness(),
    },
  })
  server.setErrorHandler(answerError)
  server.setValidationErrorHandler(answerInvalid)
  server.setPolicyErrorHandler(answerDenial)
  return server
}
