import { resolve } from 'node:path'
import { defineErrors } from '../../../kernel/index.ts'
import { type Found, filesOf, readFiles } from './files.ts'
import { processWide } from './process-wide.ts'

export const { EnvError } = defineErrors({
  EnvError: (problems: readonly string[], read: readonly string[]) => {
    const files = read.length === 0 ? 'no file' : read.join(', ')
    return `the environment cannot be used (read: ${files} and the environment of the process):\n  ${problems.join('\n  ')}`
  },
})

/** Throws all problems of the environment. */
export function refuseEnvironment(problems: readonly string[], read: readonly string[]): never {
  throw Object.assign(EnvError(problems, read), { problems })
}

/** The file whose variables, with those of its siblings, become part of the environment of the process. */
export const usualFile = '.env'

/** The variables that files have added to the environment of this process. */
interface Loaded {
  /** The added variables by name, to distinguish them from variables that the process was started with. */
  readonly put: Map<string, { readonly text: string; readonly file: string }>
  /** Files are read once: an application that changes its folder, or a test that sets another `NODE_ENV`, keeps the same environment. */
  isRead: boolean
  /** Where and for which mode they were read. */
  place?: { readonly folder: string; readonly mode: string }
}

// Shared by all copies of the package: the command line loads the files, and the application may have another copy.
const ofAllCopies = processWide<Loaded>('environment')
const loaded = ofAllCopies.get() ?? { put: new Map(), isRead: false }
ofAllCopies.set(loaded)

/** Reads a variable of the process; Deno throws for one that is not allowed. */
type Read = (name: string) => string | undefined

/**
 * The part of the file names that stands for `NODE_ENV`. Without that variable it is `development`, as for Bun, which reads these
 * files before the variable could be set.
 */
export function modeOf(read: Read, report: (problem: string) => void): string {
  const mode = read('NODE_ENV') || 'development'
  // It becomes part of a path.
  if (/^[\w-]+(\.[\w-]+)*$/.test(mode)) return mode
  report('NODE_ENV is not valid; it takes letters, digits, "_", "-" and single dots')
  return 'development'
}

/** A value from a file in the form that the environment of a process can store. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? undefined : JSON.stringify(value)
}

/** The file from which a variable of the process comes; `undefined` for one that it was started with. */
export function fileOf(name: string): string | undefined {
  const put = loaded.put.get(name)
  return put !== undefined && process.env[name] === put.text ? put.file : undefined
}

/**
 * Reads `.env` and its siblings in the working folder, and sets their variables in `process.env` where the process has no
 * variable with that name. If they were read before, later changes are applied.
 */
export function readProcessFiles(mode: string, mustExist: boolean, report: (path: string, problem: string) => void) {
  let isUsable = true
  const refuse = (path: string, problem: string) => {
    isUsable = false
    report(path, problem)
  }
  // Files of another folder or mode would replace the variables with which the application has started.
  const before = loaded.isRead ? loaded.place : undefined
  const place = before ?? { folder: resolve(), mode }
  const result = readFiles(filesOf(usualFile, place.mode), mustExist, refuse, place.folder)
  putAll(result.found, refuse)
  // Each further call reports the problems again.
  if (isUsable) Object.assign(loaded, { isRead: true, place })
  return result
}

function putAll(found: ReadonlyMap<string, Found>, report: (path: string, problem: string) => void): void {
  for (const name of loaded.put.keys()) {
    if (found.has(name)) continue
    if (fileOf(name) !== undefined) delete process.env[name]
    loaded.put.delete(name)
  }
  for (const [name, { value, file }] of found) {
    const text = textOf(value)
    if (text === undefined || !/^[A-Za-z_]/.test(name) || name === '__proto__' || /[=\0]/.test(name + text)) continue
    try {
      if (name === 'NODE_ENV') {
        // Some modules have read it before any file is read: only the rest would be in production mode.
        if (!process.env.NODE_ENV)
          report(`NODE_ENV (of ${file})`, 'cannot be set in a file: set it where the process starts')
      } else put(name, text, file)
      warnOfExpansion(name, text, file)
    } catch {
      // Deno denies access to this variable: Deno's own error says so when it is read.
    }
  }
}

function put(name: string, text: string, file: string): void {
  // Names such as `constructor` are members of every object.
  if (typeof process.env[name] === 'string' && fileOf(name) === undefined) return
  process.env[name] = text
  loaded.put.set(name, { text, file })
}

/** Warns that Bun reads these files itself, unless that is turned off, and replaces `$NAME` with the value of another variable. */
function warnOfExpansion(name: string, text: string, file: string): void {
  if (!('Bun' in globalThis) || !/\$\{?\w/.test(text) || process.env[name] === text) return
  process.emitWarning(
    `${name} of ${file} has a "$", and the process has another value. If Bun set it, which reads the file first, put "env = false" into bunfig.toml`,
    { code: 'FRAMEWORK_ENV_BUN' },
  )
}

/**
 * Reads the environment files into `process.env`, unless that has already been done.
 *
 * @throws EnvError for a file that cannot be read.
 */
export function loadEnvironment(): void {
  if (loaded.isRead) return
  const problems: string[] = []
  const mode = modeOf(
    (name) => process.env[name],
    (problem) => problems.push(problem),
  )
  const { read } = readProcessFiles(mode, false, (path, problem) => problems.push(`${path} ${problem}`))
  if (problems.length > 0) refuseEnvironment(problems, read)
}

/** Whether the files may be read without asking on the terminal: only Deno needs a permission. */
function mayLoad(): boolean {
  const { Deno } = globalThis as {
    Deno?: { permissions: { querySync(what: object): { readonly state: string } } }
  }
  if (Deno === undefined) return true
  const isGranted = (what: object) => Deno.permissions.querySync(what).state === 'granted'
  return isGranted({ name: 'env', variable: 'NODE_ENV' }) && isGranted({ name: 'read', path: process.cwd() })
}

/**
 * A variable that the framework itself knows, such as `PORT`; an empty one counts as absent. Before the first variable that the process
 * does not have, the files are read, for programs of one file: an application that begins with `framework/env` has already read them.
 *
 * @throws EnvError for a file that cannot be read. Without Deno's permission to read files, a program has only its environment.
 */
export function variable(name: string): string | undefined {
  // The process takes precedence over files.
  if (!process.env[name] && !loaded.isRead && mayLoad()) loadEnvironment()
  return process.env[name] || undefined
}
