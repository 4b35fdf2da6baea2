import { spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { emptyDatabase, type RunsAs, runToEnd, userOf } from './own-data.ts'
import { freePort, type OwnServer, startOwnServer } from './own-server.ts'
import { runningProcesses } from './processes.ts'
import { secondChoice } from './run/second-choice.mjs'

/** Debian keeps the programs of each version out of the path. */
function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
    join(secondChoice('postgres') ?? '', 'native/bin'),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

const programs = findPrograms()

/** Whether this machine has a Postgres to start; the test run installs it where it can, and prints a warning where it cannot. */
export const hasPostgres = programs !== undefined

/** A copy of an empty database. */
function makeData(bin: string, as: RunsAs): string {
  const initdb = join(bin, 'initdb')
  // The smallest log: it is almost half of what each test file copies.
  const args = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--wal-segsize=1']
  // No database is made from template0, which is a third of the files.
  const tidying = [
    `update pg_database set datistemplate = false where datname = 'template0'`,
    'drop database template0',
  ]
  const single = ['--single', '-F', 'postgres']
  return emptyDatabase('postgres', initdb, [...args, ...tidying, ...single], as, (folder) => {
    runToEnd(initdb, ['-D', folder, ...args], as)
    runToEnd(join(bin, 'postgres'), [...single, '-D', folder], as, tidying.join('\n'))
  })
}

/** Each connection has a process of its own, which does not stop with the one that started it. */
const childrenOf = (parent: number) =>
  runningProcesses()
    .filter((one) => one.parent === parent)
    .map(({ pid }) => pid)

const login = Buffer.from('\0\0\0\x20\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1')
login.writeInt32BE(login.length)

/** Logs in. An open port is not enough: while Postgres starts up, it refuses each login. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (outcome: boolean) => {
      socket.destroy()
      resolve(outcome)
    }
    socket.once('connect', () => socket.write(login))
    socket.once('data', (data) => settle(data[0] === 0x52)) // «R», authentication; «E» is an error.
    socket.once('error', () => settle(false))
    socket.once('close', () => settle(false))
    socket.setTimeout(10_000, () => settle(false))
  })
}

/**
 * Starts a Postgres with an empty database; resolves when it answers. `stop` it in `afterAll`.
 *
 * @example
 * const postgres = await startPostgres('-c', 'max_connections=20')
 * postgres.url // postgres://postgres@127.0.0.1:49152/postgres
 */
export async function startPostgres(...options: string[]): Promise<OwnServer> {
  if (programs === undefined) throw new Error('Postgres is not installed')
  const port = await freePort()
  const as = userOf('postgres')
  const folder = makeData(programs, as)

  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    // The machine does not die here, only the server: it finds all written data again, and a busy disk delays nothing.
    'fsync=off',
    // In its folder: in /dev/shm, what one that was killed has left would stay for ever.
    'dynamic_shared_memory_type=mmap',
  ]
  const fixed = ['-D', folder, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  return startOwnServer({
    name: 'postgres',
    port,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    // Ends the connections too; SIGTERM would wait for them.
    endsWith: 'SIGINT',
    // Ends the connections too, and frees its shared memory, which SIGKILL would leave.
    isDiscardedBy: 'SIGQUIT',
    start: () => spawn(join(programs, 'postgres'), [...fixed, ...options], { ...as, cwd: folder, stdio: 'ignore' }),
    answers: () => answers(port),
    children: childrenOf,
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
}
