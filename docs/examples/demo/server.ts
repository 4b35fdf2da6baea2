import { Server } from 'framework'
import { answerError } from './errors.ts'
import { type LibraryOptions, library } from './plugins/library.ts'
import './routes/index.ts'

export interface DemoOptions extends LibraryOptions {
  /** Turned off by the tests. */
  log?: boolean
}

/** The whole application, not listening yet: `main.ts` listens, tests use it as it is. */
export function makeServer({ log = true, ...options }: DemoOptions = {}) {
  const server = new Server({
    plugins: {
      log,
      health: true,
      cors: { origin: '*' },
      json: { sizeLimit: '10kb' },
      library: library(options),
    },
  })
  server.setErrorHandler(answerError)
  return server
}
