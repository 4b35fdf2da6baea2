import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { emptyDatabase, type RunsAs, runToEnd, userOf } from './own-data.ts'
import { freePort, type OwnServer, startOwnServer } from './own-server.ts'

const folders = ['/usr/sbin', ...(process.env.PATH ?? '').split(delimiter)]
const program = folders.map((folder) => join(folder, 'mariadbd')).find((path) => existsSync(path))

/** Whether this machine has a MariaDB to start; the test run installs it where it can, and prints a warning where it cannot. */
export const hasMariadb = program !== undefined

/**
 * The tables of users and rights, as `mariadb-install-db` reads them; it asks for programs that Debian has in another package. Their place and names
 * differ between packages and versions. Where they are not found, tests fail: skipped, they would be missing from a run that has found the program.
 */
function tables(): string {
  const places = [join(dirname(program!), '../share'), '/usr/share', dirname(dirname(realpathSync(program!)))]
  const found = places
    .flatMap((share) => ['mysql', 'mariadb', 'share'].map((folder) => join(share, folder)))
    .flatMap((folder) => ['mysql', 'mariadb'].map((prefix) => join(folder, `${prefix}_system_tables`)))
    .find((path) => existsSync(`${path}.sql`))
  if (found === undefined)
    throw new Error(`MariaDB is installed without mysql_system_tables.sql, looked for in ${places}`)
  return [found, `${found}_data`].map((path) => readFileSync(`${path}.sql`, 'utf8')).join('\n')
}

// The smallest log: it is most of what each test file copies.
const sizes = ['--no-defaults', '--innodb-log-file-size=4M', '--innodb-buffer-pool-size=8M']

/** Its temporary files as well: it may be another user, who must not write to the folder of ours. */
const dataIn = (folder: string) => [`--datadir=${folder}`, `--tmpdir=${folder}`]

/** A copy of an empty database, in which root has no password. */
function makeData(as: RunsAs): string {
  return emptyDatabase('mariadb', program!, sizes, as, (folder) => {
    const first = ['create database mysql;', 'use mysql;', 'set @auth_root_socket = null;', '']
    const sql = first.join('\n') + tables()
    runToEnd(program!, [...sizes, '--bootstrap', ...dataIn(folder)], as, sql)
  })
}

/**
 * Starts a MariaDB with an empty database `test`; resolves when it answers. `stop` it in `afterAll`.
 *
 * @example
 * const mariadb = await startMariadb()
 * mariadb.url // mysql://root@127.0.0.1:49152/test
 */
export async function startMariadb(...options: string[]): Promise<OwnServer> {
  if (!hasMariadb) throw new Error('MariaDB is not installed')
  const port = await freePort()
  const as = userOf('mysql')
  const folder = makeData(as)
  const fixed = [
    ...sizes,
    ...dataIn(folder),
    `--socket=${join(folder, 'socket')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    // The machine does not die here, only the server: it finds all written data again, and a busy disk delays nothing.
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-flush-method=nosync',
  ]
  const answers = async () => {
    try {
      const connection = await createConnection({ host: '127.0.0.1', port, user: 'root', connectTimeout: 1000 })
      await connection.query('create database if not exists test')
      await connection.end()
      return true
    } catch {
      return false
    }
  }
  return startOwnServer({
    name: 'mariadb',
    port,
    url: `mysql://root@127.0.0.1:${port}/test`,
    endsWith: 'SIGTERM',
    start: () => spawn(program!, [...fixed, ...options], { ...as, cwd: folder, stdio: 'ignore' }),
    answers,
    removeData: () => rmSync(folder, { recursive: true, force: true }),
  })
}
