import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
export async function runIn(folder: string, command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const [program, ...args] = command
  const child = spawn(program!, args, {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** Runs the built command line. */
export function framework(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const file = join(root, 'dist/cli/index.js')
  if (!existsSync(file)) throw new Error('dist/ is missing: run `npm run build` first')
  return runIn(folder, [process.execPath, file, ...args], env)
}

export interface Project {
  readonly folder: string
  write(files: Readonly<Record<string, string>>): void
  remove(): void
}

const installed = 'node_modules/framework'
let shared: string | undefined

/**
 * The folder, for all test files, in which the build is installed, with its manifest and the packages of the repository: its modules have
 * the same URLs in all projects, so that a process reads what one of another project has compiled. Nothing may write to it.
 */
function sharedBuild(): string {
  const dist = join(root, 'dist')
  const state = createHash('sha256')
  for (const file of filesIn(dist)) state.update(`${file} ${statSync(join(dist, file)).mtimeMs}\n`)
  const place = join(realpathSync(tmpdir()), `framework-build-${state.digest('hex').slice(0, 12)}`)
  if (existsSync(place)) return place
  const unfinished = mkdtempSync(join(tmpdir(), 'framework-build-'))
  install(join(unfinished, installed), dist, copyFileSync)
  try {
    renameSync(unfinished, place)
  } catch {
    // Another test file was faster.
    rmSync(unfinished, { recursive: true, force: true })
  }
  return place
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(relative(folder, entry.parentPath), entry.name))

function install(own: string, dist: string, put: (from: string, to: string) => void): void {
  const files = filesIn(dist)
  for (const place of new Set(files.map((file) => dirname(file))))
    mkdirSync(join(own, 'dist', place), { recursive: true })
  for (const file of files) put(join(dist, file), join(own, 'dist', file))
  copyFileSync(join(root, 'package.json'), join(own, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(own, 'node_modules'), 'junction')
}

/**
 * Installs the framework in a project itself, in place of the link to the one for all, so that its manifest and packages can be changed. The
 * modules are those of all projects under a second name: to copy them takes ten times as long, and nothing may write to them.
 */
export function installAlone({ folder }: Project): void {
  const own = join(folder, installed)
  const dist = realpathSync(join(own, 'dist'))
  rmSync(own)
  install(own, dist, linkSync)
}

/** An application in a folder of its own, with the built framework and other named packages. */
export function makeProject(files: Readonly<Record<string, string>> = {}, packages: readonly string[] = []): Project {
  // Nothing beside it: a test may name a file outside of the project, which another program must not have created.
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'framework-cli-')))
  const folder = join(parent, 'app')
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  shared ??= sharedBuild()
  symlinkSync(join(shared, installed), join(folder, installed), 'junction')
  for (const name of [...packages, '@types/node', 'undici-types']) {
    const from = join(root, 'node_modules', name)
    if (existsSync(from)) symlinkSync(from, join(folder, 'node_modules', name), 'junction')
  }
  const write = (texts: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  write({ 'package.json': '{ "name": "app", "private": true, "type": "module" }', ...files })
  return { folder, write, remove: () => rmSync(parent, { recursive: true, force: true }) }
}

/**
 * Writes the sources of a project as JavaScript to another folder of it, which runs without a loader: that takes longer than most applications.
 *
 * @param from the folder with the sources
 */
export async function writeJavaScript({ folder, write }: Project, to: string, from = 'src'): Promise<void> {
  const { transform } = await import('esbuild')
  const files = readdirSync(join(folder, from), { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const source = readFileSync(join(folder, from, file), 'utf8')
    const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'es2022' })
    const text = code.replaceAll(/(from |import )"(\.\.?\/.*)\.ts"/g, '$1"$2.js"')
    write({ [`${to}/${file.replace(/ts$/, 'js')}`]: text })
  }
}
