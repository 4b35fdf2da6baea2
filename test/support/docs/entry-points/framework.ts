import { Server as RealServer } from '../../../../index.ts'
import { observe } from './observed.ts'

export * from '../../../../index.ts'

/** The server of blocks: observed, and on a free port of the loopback whatever the port of the page is. */
export class Server extends RealServer {
  constructor(options: object = {}) {
    super({ ...(Array.isArray(options) ? { plugins: options } : options), port: 0, host: '127.0.0.1' })
    observe(this)
  }
}
