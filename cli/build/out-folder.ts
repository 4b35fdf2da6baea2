import { randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { readRegularFileSync } from '../../plugins/shared/files/read-file.ts'
import { orFail, safely } from '../../plugins/shared/values/safely.ts'
import { CommandFailure, wrongUsage } from '../failure.ts'
import { isInside } from '../project/project.ts'
import type { Layout } from './layout.ts'

/** The file in each built folder that lists the files that may be replaced. */
const manifest = '.framework-build.json'

/** The real path, even of a file that does not exist yet. */
function real(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  return dirname(path) === path ? path : join(real(dirname(path)), basename(path))
}

/**
 * Ensures that a build can be written to a folder without overwriting other files.
 *
 * @throws CommandFailure for a folder with sources, or with files that are not from a build.
 */
export function checkOut(layout: Layout, force: boolean): void {
  const [root, sources, out] = [real(layout.root), real(layout.sources), real(layout.out)]
  const name = relative(layout.root, layout.out) || '.'
  if (isInside(out, root) || isInside(out, sources)) {
    throw wrongUsage(`--out ${name} contains the sources: choose a separate folder for the build, for example dist`)
  }
  if (sources !== root && isInside(sources, out)) {
    throw wrongUsage(
      `--out ${name} is inside the sources, so the next build would treat it as source: choose another folder`,
    )
  }
  if (/[\\/](node_modules|\.git)([\\/]|$)/.test(out)) {
    throw wrongUsage(`--out ${name} is in a folder that other tools write to: choose another`)
  }
  if (!existsSync(out)) return
  if (!statSync(out).isDirectory()) throw wrongUsage(`--out ${name} is a file`)
  if (force || readdirSync(out).length === 0 || existsSync(join(out, manifest))) return
  throw new CommandFailure(
    `${name} has files that this command did not create: --force writes next to them, --out chooses another folder`,
  )
}

/** A file of a build. */
export interface BuiltFile {
  /** The absolute path, below the folder. */
  readonly path: string
  readonly contents: Uint8Array | string
}

/**
 * Writes a build, and removes files of the previous build that this one does not have. Nothing else is changed.
 *
 * All files are first written next to their place: a full disk, or a forced end, leaves the previous build unchanged.
 *
 * @throws CommandFailure, which names the file that cannot be written.
 */
export function writeOut(out: string, files: readonly BuiltFile[]): void {
  const before = readManifest(out)
  const names = files.map(({ path }) => relative(out, path).replaceAll('\\', '/')).sort()
  // Written first, so that a half-written folder is recognised.
  writeManifest(out, [...new Set([...names, ...before])])
  const stage = join(out, `${stagePrefix}${randomUUID()}`)
  try {
    const staged = ({ path }: BuiltFile) => join(stage, relative(out, path))
    for (const file of files) make(staged(file), (path) => writeFileSync(path, file.contents), file.path)
    for (const file of files) make(file.path, (path) => renameSync(staged(file), path))
  } finally {
    removeStages(out, basename(stage))
  }
  const now = new Set(names)
  for (const name of before) if (!now.has(name)) remove(out, name)
  writeManifest(out, names)
}

/** The prefix of temporary folders, which are next to the build so that moving a file does not copy it. */
const stagePrefix = '.framework-build-'

/** Removes the temporary folder of this build, and those of builds that were killed at least an hour ago. */
function removeStages(out: string, own: string): void {
  const old = Date.now() - 3_600_000
  for (const name of readdirSync(out)) {
    if (!name.startsWith(stagePrefix)) continue
    const stage = join(out, name)
    if (name === own || statSync(stage).mtimeMs < old) rmSync(stage, { recursive: true, force: true })
  }
}

/** Makes a file, and its folder if that is missing; `shown` is its name in the message of a failure. */
function make(path: string, run: (path: string) => void, shown = path): void {
  const all = () => {
    mkdirSync(dirname(path), { recursive: true })
    run(path)
  }
  orFail(all, (why) => new CommandFailure(`${shown} cannot be written: ${why}`))
}

const writeManifest = (out: string, files: readonly string[]) =>
  make(join(out, manifest), (path) => writeFileSync(path, `${JSON.stringify({ files })}\n`))

/** The files of the last build; an edited list counts as empty. */
function readManifest(out: string): string[] {
  const read = () => JSON.parse(readRegularFileSync(join(out, manifest)).toString('utf8')) as { files?: unknown } | null
  const files = safely(read)?.files
  return Array.isArray(files) ? files.filter((name) => typeof name === 'string' && name !== '') : []
}

/** Removes a file and then empty folders, but only in the folder itself and not through a link in it. */
function remove(out: string, name: string): void {
  const file = resolve(out, name)
  if (isAbsolute(name) || !file.startsWith(out + sep) || !existsSync(dirname(file))) return
  if (!isInside(realpathSync(out), realpathSync(dirname(file)))) return
  rmSync(file, { force: true })
  for (let folder = dirname(file); folder !== out && readdirSync(folder).length === 0; folder = dirname(folder)) {
    rmdirSync(folder)
  }
}
