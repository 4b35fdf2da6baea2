import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The user as whom a server runs; empty where that is the user of the tests. */
export interface RunsAs {
  readonly uid?: number
  readonly gid?: number
}

/** Servers of databases refuse to run as root: then they run as the user of their package, or as `nobody`. */
export function userOf(...users: string[]): RunsAs {
  if (process.getuid?.() !== 0) return {}
  const all = [...users, 'nobody']
  for (const user of all) {
    const ids = /^uid=(\d+).*? gid=(\d+)/.exec(spawnSync('id', [user], { encoding: 'utf8' }).stdout)
    if (ids) return { uid: Number(ids[1]), gid: Number(ids[2]) }
  }
  throw new Error(`this server does not run as root, and this machine has none of its users: ${all.join(', ')}`)
}

/** Runs a program to its end as that user, in a folder that this user may enter. */
export function runToEnd(program: string, args: string[], as: RunsAs, input?: string): void {
  const { status, stderr, error } = spawnSync(program, args, { ...as, cwd: tmpdir(), encoding: 'utf8', input })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${error?.message ?? stderr}`)
}

/** An empty folder of that user. */
function makeFolder(name: string, as: RunsAs): string {
  const folder = mkdtempSync(join(tmpdir(), `framework-${name}-`))
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!)
  return folder
}

/**
 * A folder with the empty database of one server. Making it takes many times as long as copying it, so `make` runs once on a machine; `how` is what the
 * result depends on.
 */
export function emptyDatabase(
  name: string,
  program: string,
  how: readonly string[],
  as: RunsAs,
  make: (folder: string) => void,
): string {
  const uid = as.uid ?? process.getuid?.() ?? 0
  const kind = createHash('sha256')
    .update(`${program} ${statSync(program).mtimeMs} ${how} ${uid}`)
    .digest('hex')
  const shared = join(tmpdir(), `framework-${name}-template-${kind.slice(0, 12)}`)
  if (!existsSync(shared) || statSync(shared).uid !== uid) {
    const made = makeFolder(`${name}-making`, as)
    make(made)
    try {
      renameSync(made, shared)
    } catch {
      // Another test file was faster.
      rmSync(made, { recursive: true, force: true })
    }
  }
  const folder = makeFolder(name, as)
  runToEnd('cp', ['-R', `${shared}/.`, folder], as)
  return folder
}
