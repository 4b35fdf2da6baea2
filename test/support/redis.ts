import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort, type OwnServer, startOwnServer } from './own-server.ts'

/** Whether this machine has a Redis to start; the test run installs it where it can, and prints a warning where it cannot. */
export const hasRedis = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'redis-server')))

export type RedisServer = OwnServer

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
  const fixed = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'yes']
  return startOwnServer({
    name: 'redis-server',
    port,
    url: `redis://127.0.0.1:${port}`,
    endsWith: 'SIGTERM',
    start: () => spawn('redis-server', [...fixed, ...options], { stdio: 'ignore' }),
    answers: () => answers(port),
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
}
