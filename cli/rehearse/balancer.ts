import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Instance } from './instance.ts'

/** A load balancer of connections: new ones go in turn to the instances that are ready. */
export class Balancer {
  readonly instances: Instance[] = []
  port = 0
  /** Connections that an instance has refused, and that went to another one. */
  refused = 0
  readonly #owners = new Map<number, Instance>()
  #turn = 0
  readonly #server = createServer({ allowHalfOpen: true }, (client) => this.#pass(client))

  /** Listens, with 0 on any port; rejects if another process has it. */
  async listen(port: number): Promise<void> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
  }

  /** The instance that a client with this port is connected to. */
  ownerOf(port: number | undefined): Instance | undefined {
    return this.#owners.get(port!)
  }

  #pass(client: Socket): void {
    client.on('error', () => {})
    const ready = this.instances.filter(({ isReady }) => isReady)
    const instance = ready[this.#turn++ % ready.length]
    if (instance === undefined) return void client.resetAndDestroy()
    const server = connect({ host: '127.0.0.1', port: instance.port, allowHalfOpen: true })
    server.once('connect', () => {
      this.#owners.set(client.remotePort!, instance)
      client.pipe(server).pipe(client)
      // A reset is passed on as a reset, and an end as an end.
      client.once('close', () => server.destroy())
      server.once('close', (hasFailed) => (hasFailed ? client.resetAndDestroy() : client.destroySoon()))
    })
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'ECONNREFUSED') return
      // Nothing was sent, so every load balancer tries another instance.
      instance.isReady = false
      this.refused++
      this.#pass(client)
    })
  }
}
