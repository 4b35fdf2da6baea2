import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FrameClient, text } from '../support/frames.ts'
import { type RunningApp, startApp, targets } from './targets.ts'

/** What a server has, as the fixture reports it. */
interface Crowd {
  readonly sockets: number
  readonly timers: number
  readonly descriptors: number
  readonly memory: number
}

const hardLimit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
const descriptors = hardLimit === 'unlimited' ? 20_000 : Math.min(20_000, Number(hardLimit))

/** How many sockets there are on each runtime, as far as descriptors allow. */
export type Sizes = { readonly [name in 'node' | 'bun' | 'deno']?: number }

/** What a server has after a crowd of clients is what it had before. */
export function describeCrowd(sizes: Sizes): void {
  describe.each(Object.entries(sizes))('a crowd of websockets on %s', (name, size) => {
    let app: RunningApp
    beforeAll(async () => {
      const target = targets.find((one) => one.name === name)!
      const options = { plugins: { websocket: { maxSockets: 20_000, closeTimeout: 300 } } }
      app = await startApp(target, options, { file: 'websocket.mjs', descriptors })
    })
    afterAll(() => app?.stop())

    /** How often it is asked, which collects all garbage each time. */
    const interval = 250
    const crowd = async () => {
      const response = await fetch(`http://127.0.0.1:${app.port}/crowd`, { headers: { connection: 'close' } })
      return (await response.json()) as Crowd
    }
    const open = async (count: number, path: (i: number) => string) => {
      const clients: FrameClient[] = []
      while (clients.length < count) {
        const step = Array.from(
          { length: Math.min(250, count - clients.length) },
          (_, i) => new FrameClient(app.port, path(i)),
        )
        await Promise.all(step.map((client) => client.opened()))
        clients.push(...step)
      }
      return clients
    }
    /** All resources of clients are free again, after some have left and others were given up. */
    const leavesNothing = async (before: Crowd) => {
      // At once, as a rule. Bun sometimes does not report a connection that was reset while much was unsent: two pings find it.
      await expect.poll(async () => (await crowd()).sockets, { timeout: 70_000, interval }).toBe(0)
      // A socket has left when its client has; its connection ends a moment later, and only then is its memory free.
      const left = async () => {
        const after = await crowd()
        return {
          timers: after.timers <= before.timers + 1,
          descriptors: after.descriptors <= before.descriptors + 5,
          // Code that was compiled meanwhile, and the arrays of queues, stay.
          memory: after.memory <= before.memory + 8,
        }
      }
      await expect.poll(left, { timeout: 30_000, interval }).toEqual({ timers: true, descriptors: true, memory: true })
    }

    test('that is idle has one timer, and leaves nothing', async () => {
      for (const client of await open(100, () => '/echo')) client.end()
      await expect.poll(async () => (await crowd()).sockets, { interval }).toBe(0)
      const before = await crowd()
      const count = Math.min(size, descriptors - 1000)
      const clients = await open(count, () => '/echo')
      const during = await crowd()
      expect(during.sockets).toBe(count)
      expect(during.timers).toBeLessThanOrEqual(before.timers + 2)
      for (const client of clients) client.end()
      await leavesNothing(before)
    })

    test('that never reads leaves nothing, whatever becomes of slow readers', async () => {
      const before = await crowd()
      const clients = await open(60, (i) => `/deaf/${['close', 'drop', 'wait'][i % 3]}`)
      for (const client of clients) client.socket.pause()
      for (const client of clients) client.send(text('go'), text('go'))
      // Those of 'close' are gone by then.
      await expect.poll(async () => (await crowd()).sockets, { timeout: 20_000, interval }).toBe(40)
      for (const client of clients) client.end()
      await leavesNothing(before)
    })
  })
}
