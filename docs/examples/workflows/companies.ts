import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that has arrived, and has no response yet. */
export interface Call {
  readonly key: string
  /** Does what was asked, unless that is done already, and responds. */
  respond(status?: number): void
  /** Does what was asked. Its caller never learns of it. */
  act(): void
}

/** Stands in for the other companies in tests. */
export class Companies {
  /** The keys of all requests, in the order of their arrival. */
  readonly asked: string[] = []
  /** The keys of what was done: each once, as the companies promise. */
  readonly done = new Set<string>()
  readonly #held = new Map<string, (call: Call) => void>()
  readonly #server = createServer((req, res) => this.#receive(req.headers['idempotency-key'] as string, res))

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves when the next request with this key has arrived, which then waits for its response. */
  hold(key: string): Promise<Call> {
    return new Promise((resolve) => this.#held.set(key, resolve))
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #receive(key: string, res: ServerResponse): void {
    const act = () => void this.done.add(key)
    const respond = (status = 200) => {
      if (status === 200) act()
      res.writeHead(status).end()
    }
    this.asked.push(key)
    const hold = this.#held.get(key)
    this.#held.delete(key)
    if (hold === undefined) respond()
    else hold({ key, respond, act })
  }
}
