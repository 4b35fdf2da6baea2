import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether this machine has a Redis to start; the test run installs it where it can, and says loudly where it cannot. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0

/** A Redis server of one test file, on loopback, with data that is thrown away. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly pid: number
  /** SIGKILL, as a machine dies. */
  kill(): Promise<void>
  /** Stops answering without closing a connection. */
  freeze(): void
  thaw(): void
  /** Starts again on the same port, with what was persisted. */
  restart(): Promise<void>
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (outcome: boolean) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.once('connect', () => socket.write('PING\r\n'))
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG')))
    socket.once('error', () => settle(false))
  })
}

/** Starts a Redis server; resolves when it answers. `stop` it in `afterAll`. */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'framework-redis-'))
  let child: ChildProcess

  const isRunning = () => child.exitCode === null && child.signalCode === null
  const start = async () => {
    const fixed = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '']
    child = spawn('redis-server', [...fixed, '--appendonly', 'yes', ...options], { stdio: 'ignore' })
    for (let attempt = 0; attempt < 500; attempt++) {
      if (await answers(port)) return
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error('redis-server did not answer within 5 s')
  }
  const end = async (signal: NodeJS.Signals) => {
    if (!isRunning()) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  await start()

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid!
    },
    kill: () => end('SIGKILL'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    restart: async () => void (isRunning() || (await start())),
    async stop() {
      child.kill('SIGCONT')
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
