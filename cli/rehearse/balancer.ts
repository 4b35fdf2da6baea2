import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Instance } from './instance.ts'

/** A load balancer of connections: new ones go in turn to the instances that are ready. */
export class Balancer {
  readonly instances: Instance[] = []
  port = 0
  /** The instances that clients are connected to, by their ports. */
  readonly owners = new Map<number | undefined, Instance>()
  #turn = 0
  readonly #server = createServer({ allowHalfOpen: true }, (client) => this.#pass(client))

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  close(): void {
    this.#server.close()
  }

  #pass(client: Socket): void {
    client.on('error', () => {})
    const ready = this.instances.filter(({ isReady }) => isReady)
    const instance = ready[this.#turn++ % ready.length]
    if (instance === undefined) return void client.resetAndDestroy()
    const server = connect({ host: '127.0.0.1', port: instance.port, allowHalfOpen: true })
    server.once('connect', () => {
      this.owners.set(client.remotePort, instance)
      client.pipe(server).pipe(client)
      // A reset is passed on as a reset, and an end as an end.
      client.once('close', () => server.destroy())
      server.once('close', (hasFailed) => (hasFailed ? client.resetAndDestroy() : client.destroySoon()))
    })
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'ECONNREFUSED') return
      // Nothing was sent, so every load balancer tries another instance.
      instance.isReady = false
      this.#pass(client)
    })
  }
}
