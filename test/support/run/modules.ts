import { createHash } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { withFiles } from '../../../build-files.mjs'

const root = join(import.meta.dirname, '../../..')
const folders = ['kernel', 'plugins', 'cli']
const entryPoints = ['index.ts', 'server.ts']
/** What else decides how modules are built. */
const tools = ['build-files.mjs', 'package-lock.json', 'tsconfig.json', 'test/support/run/modules.ts']

/** In node_modules, as what the framework says about places of applications leaves packages out; at this depth it finds its `package.json`. */
const place = join(root, 'node_modules')
const prefix = '.test-modules-'
const hour = 3_600_000

/** A source file of the framework, relative to the project, or `undefined` for another file. */
export function sourceOf(id: string): string | undefined {
  const file = id.startsWith(`${root}/`) && id.endsWith('.ts') ? id.slice(root.length + 1) : ''
  return entryPoints.includes(file) || folders.some((name) => file.startsWith(`${name}/`)) ? file : undefined
}

/**
 * The folder with a module for each source file, `kernel/kernel.mjs` for `kernel/kernel.ts`; most of them only name what a few large
 * files contain. It is built (a second) unless there is one of these very sources, so it cannot be stale.
 */
export async function builtModules(): Promise<string> {
  const files = folders.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) => join(name, file)),
  )
  const name = `${prefix}${stateOf([...files, ...entryPoints, ...tools])}`
  const folder = join(place, name)
  if (existsSync(folder)) return folder
  // Another run may still use what is newer, or rename or remove a folder at this moment: the steps of a run build at the same time.
  const old = readdirSync(place).filter((other) => other.startsWith(prefix))
  for (const other of old.map((one) => join(place, one))) {
    const changed = statSync(other, { throwIfNoEntry: false })?.mtimeMs
    if (changed !== undefined && changed < Date.now() - hour) rmSync(other, { recursive: true, force: true })
  }
  const unfinished = join(place, `${prefix}${process.pid}`)
  await build(
    [...files, ...entryPoints].filter((file) => file.endsWith('.ts')),
    unfinished,
  )
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    // Another run has built the same in the meantime.
    if (!existsSync(folder)) throw error
    rmSync(unfinished, { recursive: true })
  }
  return folder
}

function stateOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files.toSorted()) {
    const { mtimeMs, ctimeMs, size } = statSync(join(root, file))
    hash.update(`${file} ${mtimeMs} ${ctimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

async function build(sources: readonly string[], dir: string): Promise<void> {
  const main = new Set<string>()
  const plugin: Plugin = {
    name: 'modules of tests',
    // A line stays a line, for the maps.
    transform: (code, id) => {
      const whole = withFiles(code, id)
      return whole === code ? undefined : { code: whole, map: null }
    },
    buildEnd() {
      const add = (id: string) => {
        if (main.has(id) || !id.startsWith('/')) return
        main.add(id)
        for (const other of this.getModuleInfo(id)?.importedIds ?? []) add(other)
      }
      add(join(root, 'index.ts'))
    },
  }
  const bundle = await rolldown({
    input: Object.fromEntries(sources.map((file) => [file.replace(/\.ts$/, ''), join(root, file)])),
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    platform: 'node',
    tsconfig: join(root, 'tsconfig.json'),
    // Tests import what the framework itself does not.
    treeshake: false,
    checks: { ineffectiveDynamicImport: false },
    plugins: [plugin],
  })
  const options: OutputOptions = {
    dir,
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunks/[name].mjs',
    comments: false,
    // What every server loads is one file; what a plugin loads at its start stays separate.
    codeSplitting: { groups: [{ name: 'main', test: (id) => main.has(id) }] },
  }
  await bundle.write(options)
  await bundle.close()
}
