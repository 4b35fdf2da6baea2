import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
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

/** Postgres refuses to run as root: then it runs as the user of its package, or as `nobody`. */
function runAs(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string, user: string) => {
    const { status, stdout } = spawnSync('id', [flag, user], { encoding: 'utf8' })
    return status === 0 ? Number(stdout) : undefined
  }
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = [idOf('-u', user), idOf('-g', user)]
    if (uid !== undefined && gid !== undefined) return { uid, gid }
  }
  throw new Error('Postgres does not run as root, and there is neither a user "postgres" nor "nobody"')
}

/** Runs a program to its end as that user, in a folder that this user may enter. */
function runToEnd(program: string, args: string[], as: ReturnType<typeof runAs>): void {
  const { status, stderr, error } = spawnSync(program, args, { ...as, cwd: tmpdir(), encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${error?.message ?? stderr}`)
}

/** An empty folder of that user. */
function makeFolder(name: string, as: ReturnType<typeof runAs>): string {
  const folder = mkdtempSync(join(tmpdir(), `framework-postgres-${name}`))
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!)
  return folder
}

/** An empty database: `initdb` takes four times as long as copying its result, so it runs once on a machine. */
function template(bin: string, as: ReturnType<typeof runAs>): string {
  const initdb = join(bin, 'initdb')
  // The smallest log: it is almost half of what each test file copies.
  const args = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--wal-segsize=1']
  const uid = as.uid ?? process.getuid?.() ?? 0
  const kind = createHash('sha256')
    .update(`${initdb} ${statSync(initdb).mtimeMs} ${args} ${uid}`)
    .digest('hex')
  const shared = join(tmpdir(), `framework-postgres-template-${kind.slice(0, 12)}`)
  if (existsSync(shared) && statSync(shared).uid === uid) return shared
  const made = makeFolder('making-', as)
  runToEnd(initdb, ['-D', made, ...args], as)
  try {
    renameSync(made, shared)
    return shared
  } catch {
    // Another test file was faster.
    rmSync(made, { recursive: true, force: true })
    return shared
  }
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
    socket.setTimeout(1000, () => settle(false))
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
  const as = runAs()
  const folder = makeFolder('', as)
  runToEnd('cp', ['-R', `${template(programs, as)}/.`, folder], as)

  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    // The machine does not die here, only the server: it finds all written data again, and a busy disk delays nothing.
    'fsync=off',
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
    within: 40_000,
    start: () => spawn(join(programs, 'postgres'), [...fixed, ...options], { ...as, cwd: folder, stdio: 'ignore' }),
    answers: () => answers(port),
    children: childrenOf,
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
}
