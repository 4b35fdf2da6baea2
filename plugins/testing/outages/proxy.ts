import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { OptionError } from '../../../kernel/index.ts'
import { Outage, type OutageKind, type OutageOptions } from './outage.ts'

/**
 * A proxy between an application and a service, for outages on demand.
 *
 * @example
 * const postgres: OutageProxy = await outageProxy('postgres://127.0.0.1:5432/shop')
 * await postgres.close()
 */
export class OutageProxy implements AsyncDisposable {
  /** The address of the service through the proxy: the given one with another host and port. */
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #outage: Outage | undefined

  /** @internal */
  constructor(server: Server, service: URL) {
    const host = service.hostname.replace(/^\[|\]$/g, '')
    this.#server = server
    server.on('connection', (client) => this.#pass(client, connect(Number(service.port), host)))
    const url = new URL(service)
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    this.url = url.href
  }

  /**
   * Begins an outage, which replaces the present one.
   *
   * @example
   * await using redis = await outageProxy('redis://127.0.0.1:6379')
   * using slow = redis.outage('slow', { delay: 300 })
   */
  outage(kind: OutageKind, options?: OutageOptions): Outage {
    const outage = new Outage(kind, options)
    outage.whenOver(() => {
      if (this.#outage === outage) this.#outage = undefined
    })
    this.#outage?.restore()
    this.#outage = outage
    if (kind === 'down') this.#reset()
    return outage
  }

  /** Closes the proxy, with all connections. */
  async close(): Promise<void> {
    this.#outage?.restore()
    this.#reset()
    await new Promise((resolve) => void this.#server.close(resolve))
  }

  /** The same. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  #pass(client: Socket, service: Socket): void {
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      this.#sockets.add(one)
      one.setNoDelay()
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
    if (this.#outage?.kind === 'down') return void client.resetAndDestroy()
    client.pipe(service)
    service.on('end', () => client.end())
    service.on('data', async (chunk: Buffer) => {
      const outage = this.#outage
      if (outage === undefined) return void client.write(chunk)
      if (outage.kind === 'lies') return void client.write(Buffer.alloc(chunk.length, '?'))
      if (outage.kind === 'cut') return void client.write(chunk.subarray(0, chunk.length / 2), () => client.destroy())
      service.pause()
      await outage.isInTime()
      client.write(chunk)
      service.resume()
    })
  }
}

/**
 * Opens a proxy to a service, such as `redis://127.0.0.1:6379`: the application uses the address of the proxy, and the test decides what is wrong with
 * the service. It passes bytes, so it serves every protocol over TCP; with TLS, the certificate has to be valid for 127.0.0.1.
 *
 * @throws (as a rejection) OptionError for an address without a host and a port.
 * @example
 * await using redis = await outageProxy('redis://127.0.0.1:6379')
 * await using shop = new Server({ plugins: { cache: { provider: 'redis', redis: redis.url } } })
 * await shop.ready()
 * using down = redis.outage('down')
 * const res = await shop.inject.get('/books')
 * res.assertHeader('x-cache', 'BYPASS')
 */
export async function outageProxy(address: string): Promise<OutageProxy> {
  const service = URL.canParse(address) ? new URL(address) : undefined
  if (!service?.hostname || service.port === '')
    throw OptionError('outageProxy', address, 'an address with a port, such as "redis://127.0.0.1:6379"')
  const server = createServer()
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(0, '127.0.0.1', resolve))
  return new OutageProxy(server, service)
}
