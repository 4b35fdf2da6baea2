import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** One email as a real SMTP server received it. */
export interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  readonly secure: boolean
  readonly user: string | undefined
  readonly at: number
}

export interface SmtpServer {
  readonly port: number
  readonly received: Received[]
  stop(): Promise<void>
}

/** A real SMTP server on a free port of this machine. */
export async function startSmtp(options: SMTPServerOptions = {}, port = 0): Promise<SmtpServer> {
  const received: Received[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
          secure: session.secure,
          user: typeof session.user === 'string' ? session.user : undefined,
          at: performance.now(),
        })
        done()
      })
    },
    ...options,
  })
  // Clients that leave in the middle.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  const address = server.server.address() as AddressInfo
  return { port: address.port, received, stop: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}
