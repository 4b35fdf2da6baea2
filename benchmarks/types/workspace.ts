import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { provide, versionIn } from '../support/install.ts'
import type { Stage } from '../support/stage.ts'
import type { Files } from './framework.ts'

const folder = import.meta.dirname
const modules = join(folder, 'node_modules')

/** Installs the frameworks for the comparison. */
export const providePeers = (): void => provide(folder, '110 MB')

export const versionOf = (name: string) => versionIn(folder, name)

/** A project like a user's: sources, a strict `tsconfig.json`, and the packages. */
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

/** Makes a project in a temporary folder, with the peers and the build of a stage as its packages. */
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
