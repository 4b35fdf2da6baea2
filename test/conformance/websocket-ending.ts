import { vi } from 'vitest'
import { close, FrameClient, text } from '../support/frames.ts'
import { type RunningApp, startApp, type Target } from './targets.ts'

/** How a process has ended that had websockets. */
export interface Ending {
  /** What the sockets were closed with. */
  readonly codes: readonly (number | undefined)[]
  readonly code: number | null
  /** Long before the deadline, at which all that is left is cut. */
  readonly isInTime: boolean
  readonly stderr: string
}

/**
 * Ends a process with SIGTERM that has so many open sockets, ten more whose close handlers take their time, and had a client that left before
 * the response to its upgrade. `closeTimeout` is that of the plugin: a busy machine needs more to send a frame to a thousand clients.
 */
export async function endedBySigterm(target: Target, many: number, closeTimeout = 300): Promise<Ending> {
  const options = { drainWindow: 200, closeTimeout: 60_000, plugins: { websocket: { closeTimeout } } }
  const own = await startApp(target, options, { file: 'websocket.mjs' })
  try {
    const leaving = new FrameClient(own.port, '/late')
    await says(own, 'asked')
    leaving.end()
    await says(own, 'answered')
    const open = (count: number, path: string) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const client = new FrameClient(own.port, path)
          await client.opened()
          return client
        }),
      )
    const [clients, slow] = await Promise.all([open(many, '/echo'), open(10, '/slow-close')])
    // A socket that is still opening when its server ends has only the time of its client's response left.
    for (const client of clients) client.send(text('1'))
    for (const client of clients) await client.until(1)
    const start = performance.now()
    own.signal('SIGTERM')
    for (const client of slow.slice(5)) void client.until(1, 30_000).then(() => client.send(close(1001)))
    const codes = clients.map(async (client, i) => {
      const { closedWith } = await client.until(2)
      // Half of them answer, as RFC 6455 asks of them; the others are cut off.
      if (i % 2 === 0) client.send(close(1001))
      return closedWith
    })
    const all = await Promise.all(codes)
    const code = await own.exited
    const isInTime = performance.now() - start < 30_000
    for (const client of [...clients, ...slow]) client.end()
    return { codes: all, code, isInTime, stderr: own.stderr() }
  } finally {
    await own.stop()
  }
}

async function says(app: RunningApp, line: string): Promise<void> {
  await vi.waitUntil(() => app.stderr().split('\n').includes(line), { timeout: 20_000 })
}
