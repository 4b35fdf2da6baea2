import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** The servers of the peers, which have a `package.json` of their own. */
export const peersFolder = join(root, 'benchmarks/peers')

/**
 * A built copy of a checkout in a temporary folder: `dist`, the servers of the benchmarks and the dependencies.
 *
 * A run takes minutes, and a build in the checkout during that time must not change the measured code. The servers import
 * `framework`, which is the package around them, so each stage measures its own build with today's servers.
 */
export interface Stage {
  readonly label: string
  readonly folder: string
}

const made: string[] = []

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'framework-bench-'))
  made.push(folder)
  return folder
}

/** Removes the stages of this process; this also happens when it ends, whatever the reason. */
export function removeStages(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}
process.once('exit', removeStages)

/** Builds a checkout into a stage. */
export function stageFolder(checkout: string, label: string): Stage {
  const folder = temporaryFolder()
  const result = spawnSync(process.execPath, ['build.mjs', '--keep', '--out', join(folder, 'dist')], {
    cwd: checkout,
    encoding: 'utf8',
  })
  // tsc writes its output despite type errors, which those who measure unfinished work expect; missing output is another matter.
  if (!existsSync(join(folder, 'dist/index.js'))) throw new Error(`${label} cannot be built:\n${result.stdout}`)
  if (result.status !== 0) console.error(`${label} has type errors; measured all the same`)
  return furnish(folder, join(checkout, 'package.json'), label)
}

/** Makes a stage from a folder that already has a `dist`, for trying out a change in the built files. */
export function adoptFolder(built: string, label: string): Stage {
  const folder = temporaryFolder()
  cpSync(join(built, 'dist'), join(folder, 'dist'), { recursive: true })
  return furnish(folder, join(root, 'package.json'), label)
}

/** Adds what a `dist` requires: the manifest that names it, the servers and the dependencies. */
function furnish(folder: string, manifest: string, label: string): Stage {
  cpSync(manifest, join(folder, 'package.json'))
  for (const servers of ['servers', 'peers']) {
    const filter = (file: string) => !file.includes('node_modules')
    cpSync(join(root, 'benchmarks', servers), join(folder, servers), { recursive: true, filter })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  if (existsSync(join(peersFolder, 'node_modules'))) {
    symlinkSync(join(peersFolder, 'node_modules'), join(folder, 'peers/node_modules'))
  }
  return { label, folder }
}

/** Builds a commit, branch or tag. Uses `git archive`, which leaves no trace in the repository when a run is cut off. */
export function stageCommit(commit: string): Stage {
  const name = execFileSync('git', ['rev-parse', '--short', `${commit}^{commit}`], { cwd: root, encoding: 'utf8' })
  const checkout = join(temporaryFolder(), 'checkout')
  mkdirSync(checkout)
  const archive = execFileSync('git', ['archive', '--format=tar', name.trim()], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', checkout], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  return stageFolder(checkout, commit === name.trim() ? commit : `${commit} (${name.trim()})`)
}
