import { readdirSync, readFileSync } from 'node:fs'
import { Agent, get, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasNoTimeLimits } from './gaps.ts'
import { type RunningApp, shareApp, startApp, type Target, targets } from './targets.ts'

export const onLinux = process.platform === 'linux'

/** Open file descriptors of a process, where the system reports them. */
function descriptors(pid: number): number {
  return onLinux ? readdirSync(`/proc/${pid}/fd`).length : 0
}

/** Resident memory of a process in MB, where the system reports it. */
function megabytes(pid: number): number {
  return onLinux ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024 : 0
}

export function ask(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })
}

/** A connection, and its first bytes: a server may close one that waits for the others. */
export function open(port: number, text = ''): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject).write(text)
  })
}

function openMany(port: number, count: number, text = ''): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, () => open(port, text)))
}

/** Connections that send half a head. */
async function openSlowly(port: number, count: number): Promise<Socket[]> {
  const slow = await openMany(port, count, 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  for (const socket of slow) socket.resume()
  return slow
}

/** Waits until a value that is read again and again satisfies, at most `ms`. */
export async function until(read: () => number, satisfied: (value: number) => boolean, ms: number): Promise<number> {
  const end = performance.now() + ms
  while (!satisfied(read()) && performance.now() < end) await pause(50)
  return read()
}

/** Megabytes that a process has more than before, once that is below a limit: a busy machine frees memory later. */
function grownBy(pid: number, before: number, limit: number): Promise<number> {
  const grown = () => megabytes(pid) - before
  return until(grown, (value) => value < limit, 30_000)
}

const limits = { headersTimeout: 1_000, receiveTimeout: 2_000, keepAliveTimeout: 1_000 }

/** How many of so many silent connections are left after a while. */
async function survivorsOfSilence(target: Target, count: number): Promise<number> {
  const app = await shareApp(target, { limits })
  try {
    const slow = await openSlowly(app.port, count)
    const left = () => slow.filter((socket) => !socket.destroyed).length
    return await until(left, (count) => count === 0, 30_000)
  } finally {
    await app.stop()
  }
}

const limited = targets.filter((target) => !hasNoTimeLimits(target))

/** How many connections do something at the same time, or one after the other. */
export interface Numbers {
  readonly slow: number
  readonly deaf: number
  readonly gone: number
  readonly left: number
  readonly silent: number
}

/** Between the oldest and the newest Node.js no other server is met. */
export const pressed = targets.filter(({ runtime }) => runtime !== 'node22' && runtime !== 'node24')

/** The options of an application that does not end by itself while a request has no response. */
export const patient = { closeTimeout: 60_000 }

/** Ends an application whose clients wait by a second signal. */
export async function endTwice(app: RunningApp): Promise<void> {
  const begun = async () => (await ask(app.port, '/events')).split('endless 0').length
  const before = await begun()
  const hanging = await open(app.port, 'GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
  await expect.poll(begun, { timeout: 20_000 }).toBe(before + 1)
  app.signal('SIGTERM')
  // The first one has closed the port.
  const isOpen = () =>
    open(app.port).then(
      (socket) => socket.destroy() !== undefined,
      () => false,
    )
  await expect.poll(isOpen, { timeout: 20_000, interval: 20 }).toBe(false)
  app.signal('SIGINT')
  // Where both came in one turn, the lower number is reported first.
  expect([128 + 2, 128 + 15]).toContain(await app.exited)
  hanging.destroy()
}

/** What clients do that mean no good, or are no longer there. */
export function describeAbuse({ slow: slowOnes, deaf: deafOnes, gone, left, silent }: Numbers): void {
  /** Awaited while the other tests run: Bun ends a head after 10 to 12 seconds, whatever its settings are. */
  const silences = new Map<string, Promise<number>>()
  beforeAll(() => {
    for (const target of limited) silences.set(target.name, survivorsOfSilence(target, silent))
    // The test that awaits it reports its failures.
    void Promise.allSettled(silences.values())
  })

  describe.each(pressed)('abuse of $name', (target) => {
    let app: RunningApp

    beforeAll(async () => {
      app = await startApp(target, patient)
      await ask(app.port, '/hello')
    })
    afterAll(() => app.stop())

    test(`HT-05 ${slowOnes} connections that send nothing more do not slow down the others, and cost little`, async () => {
      const before = megabytes(app.pid)
      const slow: Socket[] = []
      try {
        while (slow.length < slowOnes) slow.push(...(await openSlowly(app.port, 250)))
        // After them in the queue of connections.
        await ask(app.port, '/hello')
        const times: number[] = []
        for (let i = 0; i < 20; i++) {
          const start = performance.now()
          expect(JSON.parse(await ask(app.port, '/hello'))).toEqual({ hello: 'world' })
          times.push(performance.now() - start)
        }
        // Waiting for the slow ones takes ten seconds, each time; the others are those of a machine that has more to do.
        expect(Math.min(...times)).toBeLessThan(5_000)
        expect(await grownBy(app.pid, before, 48 + slowOnes / 20)).toBeLessThan(48 + slowOnes / 20)
      } finally {
        for (const socket of slow) socket.destroy()
      }
    })

    test(`HT-09 ${deafOnes} clients that do not read their responses cost little, and are disconnected`, async () => {
      const before = megabytes(app.pid)
      const deaf = await openMany(app.port, deafOnes, 'GET /endless HTTP/1.1\r\nHost: x\r\n\r\n')
      for (const socket of deaf) socket.pause()
      const events = async () => JSON.parse(await ask(app.port, '/events')) as string[]
      const count = async (event: string) => (await events()).filter((one) => one === event).length
      await expect.poll(() => count('endless 0'), { timeout: 30_000 }).toBe(deafOnes)
      // What the system and the runtime take for a connection is made in a moment, and then nothing more. Events are only for every
      // hundredth piece, so the memory shows when that is over.
      const pieces = async () => (await events()).filter((event) => /^endless \d+$/.test(event)).length
      const state = async () => ({ made: await pieces(), held: megabytes(app.pid) })
      const isQuiet = async () => {
        const last = await state()
        await pause(400)
        const now = await state()
        return now.made === last.made && now.held - last.held < 16
      }
      await expect.poll(isQuiet, { timeout: 60_000 }).toBe(true)
      expect((await state()).held - before).toBeLessThan(120 + deafOnes * 0.4)
      for (const socket of deaf) socket.destroy()
      await expect.poll(() => count('endless ended'), { timeout: 30_000 }).toBe(deafOnes)
      expect((await events()).filter((event) => event.startsWith('un'))).toEqual([])
    })

    test('BO-03 64 MB in chunks, of which 100 kB are too much, are not kept', async () => {
      const before = megabytes(app.pid)
      const agent = new Agent({ keepAlive: true })
      const piece = Buffer.alloc(64_000, 120)
      const options = { host: '127.0.0.1', port: app.port, method: 'POST', path: '/json', agent }
      const statuses = await Promise.all(
        Array.from({ length: 8 }, () => {
          return new Promise<unknown>((resolve) => {
            const sending = request({ ...options, headers: { 'content-type': 'application/json' } }, (response) => {
              response.on('error', resolve).on('end', () => resolve(response.statusCode))
              response.resume()
            })
            sending.on('error', resolve)
            for (let i = 0; i < 125; i++) sending.write(piece)
            sending.end()
          })
        }),
      )
      agent.destroy()
      // A client that reads later than an ended connection is kept loses the response: wire.ts has those that do not.
      const lost = expect.objectContaining({ code: expect.stringMatching(/^(EPIPE|ECONNRESET)$/) })
      expect(statuses).toContain(413)
      expect(statuses).toEqual(statuses.map((status) => (status === 413 ? 413 : lost)))
      expect(await grownBy(app.pid, before, 48)).toBeLessThan(48)
      expect(JSON.parse(await ask(app.port, '/hello'))).toEqual({ hello: 'world' })
    })

    test(`HT-06 ${gone} connections that come and go leave no descriptor open`, async () => {
      const before = descriptors(app.pid)
      for (let round = 0; round < gone / 100; round++) {
        for (const socket of await openMany(app.port, 100)) socket.destroy()
      }
      expect(
        await until(
          () => descriptors(app.pid),
          (count) => count <= before + 20,
          30_000,
        ),
      ).toBeLessThanOrEqual(before + 20)
      expect(JSON.parse(await ask(app.port, '/hello'))).toEqual({ hello: 'world' })
    })

    test(`HT-10 ${left} clients that leave before their response leave no resources`, async () => {
      const before = megabytes(app.pid)
      for (let round = 0; round < left / 50; round++) {
        const sockets = await openMany(app.port, 50, 'GET /wait?ms=60 HTTP/1.1\r\nHost: x\r\n\r\n')
        // Before they are answered, as a rule: otherwise the test shows less.
        await pause(20)
        for (const socket of sockets) socket.destroy()
      }
      await pause(150)
      const events = JSON.parse(await ask(app.port, '/events')) as string[]
      expect(events.filter((event) => !event.startsWith('endless'))).toEqual([])
      expect(await grownBy(app.pid, before, 64)).toBeLessThan(64)
      expect(app.stderr()).toBe('')
    })

    // The last one.
    test('GS-02 a second signal ends the process at once', () => endTwice(app))
  })

  describe.each(limited)('silence towards $name', (target) => {
    test(`HT-05 ends ${silent} connections that send nothing more`, async () => {
      expect(await silences.get(target.name)).toBe(0)
    })
  })
}
