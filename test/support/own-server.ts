import type { ChildProcess } from 'node:child_process'
import { connect, createServer, type Server } from 'node:net'

/** A real server of one test file, on loopback, with data that is thrown away. */
export interface OwnServer {
  readonly port: number
  readonly url: string
  readonly pid: number
  /** SIGKILL, as when a machine dies. */
  kill(): Promise<void>
  /** Stops answering without closing a connection. */
  freeze(): void
  thaw(): void
  /** Starts again on the same port, with the persisted data; ends it regularly first where it runs. */
  restart(): Promise<void>
  /** For `afterAll`: ends it and removes its data. */
  stop(): Promise<void>
}

/** The differences between kinds of servers. */
export interface ServerKind {
  readonly name: string
  readonly port: number
  readonly url: string
  /** The signal that ends it regularly. */
  readonly endsWith: NodeJS.Signals
  /** The signal that ends it when its data is thrown away anyway, ten times as fast. Default SIGKILL. */
  readonly isDiscardedBy?: NodeJS.Signals
  start(): ChildProcess
  answers(): Promise<boolean>
  /** Further processes of it, for signals that must reach all. */
  children?(pid: number): number[]
  removeData(): void
}

const binds = (server: Server, port: number) =>
  new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, () => resolve(true))
  })

/** A hundred ports, below those that systems give to connections and to servers that ask for any: from 32768 or 49152 on. */
async function claimPorts(): Promise<number> {
  for (let at = process.pid; ; at++) {
    const first = 12_000 + (at % 200) * 100
    // Bound as long as this process lives: other processes of tests, of other checkouts too, take others.
    if (await binds(createServer().unref(), first)) return first
  }
}
/** Of the process: files that share one load this module again. */
const shared = globalThis as { portsOfTests?: Promise<number> }
let given = 0

/** A port that is free, and that no other test gets: one that the system gives may be taken by any connection until a server binds it. */
export async function freePort(): Promise<number> {
  shared.portsOfTests ??= claimPorts()
  const first = await shared.portsOfTests
  for (;;) {
    const port = first + 1 + (given++ % 99)
    const probe = createServer()
    const isFree = await binds(probe, port)
    await new Promise((resolve) => probe.close(resolve))
    if (isFree) return port
  }
}

/** Servers of a test file that ends before its `afterAll`, because of an error at its top for example. */
const running = new Set<() => ChildProcess>()
process.on('exit', () => {
  for (const child of running) child().kill('SIGKILL')
})

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Starts a server and resolves when it answers. */
export async function startOwnServer(kind: ServerKind): Promise<OwnServer> {
  let child: ChildProcess
  const isRunning = () => child.exitCode === null && child.signalCode === null

  const start = async () => {
    const giveUpAt = performance.now() + 60_000
    child = kind.start()
    while (!(await kind.answers())) {
      if (performance.now() > giveUpAt) {
        child.kill('SIGKILL')
        throw new Error(`${kind.name} does not answer`)
      }
      // Emulators load for a second, and each try is a connection.
      await pause(25)
      // A server that was killed may keep its port or its memory a moment longer than its pid.
      if (!isRunning()) {
        await pause(50)
        child = kind.start()
      }
    }
  }
  const signal = (name: NodeJS.Signals) => {
    for (const pid of [...(kind.children?.(child.pid!) ?? []), child.pid!]) {
      try {
        process.kill(pid, name)
      } catch {
        // It has ended already.
      }
    }
  }
  const end = async (how: () => void) => {
    if (!isRunning()) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    how()
    await ended
  }
  const endBy = (name: NodeJS.Signals) =>
    end(() => {
      signal('SIGCONT')
      child.kill(name)
    })
  const current = () => child
  running.add(current)
  await start()

  return {
    port: kind.port,
    url: kind.url,
    get pid() {
      return child.pid!
    },
    kill: () => end(() => signal('SIGKILL')),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async restart() {
      await endBy(kind.endsWith)
      await start()
    },
    async stop() {
      await endBy(kind.isDiscardedBy ?? 'SIGKILL')
      running.delete(current)
      kind.removeData()
    },
  }
}

/** Whether a port of loopback accepts connections. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (outcome: boolean) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}
