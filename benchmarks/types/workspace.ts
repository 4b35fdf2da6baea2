import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stage } from '../support/stage.ts'
import type { Files } from './framework.ts'

const folder = import.meta.dirname
const modules = join(folder, 'node_modules')

/** Installs what is compared with, when the lock file has changed since it was installed last. */
export function providePeers(): void {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const stamp = join(modules, '.framework-lock.json')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  console.error('installing what is compared with (110 MB, once)')
  const result = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (result.status !== 0) throw new Error(`npm ci in ${folder} failed:\n${result.stdout}${result.stderr}`)
  writeFileSync(stamp, lock)
}

export const versionOf = (name: string) =>
  (JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { version: string }).version

/** A project as a user has it: sources, a strict `tsconfig.json`, and the packages. */
export interface Project {
  readonly folder: string
  write(files: Files): void
}

const made: string[] = []
process.once('exit', () => {
  for (const one of made) rmSync(one, { recursive: true, force: true })
})

const compilerOptions = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  moduleResolution: 'nodenext',
  types: ['node'],
  strict: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
}

/** A project in a temporary folder, with the peers and the build of a stage as its packages. */
export function makeProject(stage: Stage, files: Files, entries: readonly string[]): Project {
  const project = mkdtempSync(join(tmpdir(), 'framework-types-'))
  made.push(project)
  const packages = join(project, 'node_modules')
  mkdirSync(packages)
  for (const name of readdirSync(modules)) {
    if (!name.startsWith('.')) symlinkSync(join(modules, name), join(packages, name))
  }
  symlinkSync(stage.folder, join(packages, 'framework'))
  const write = (more: Files) => {
    for (const [name, text] of Object.entries(more)) writeFileSync(join(project, name), text)
  }
  write({
    'package.json': '{ "name": "application", "type": "module" }',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: entries }),
    ...files,
  })
  return { folder: project, write }
}
