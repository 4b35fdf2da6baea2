import { existsSync, statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kernel } from '../../kernel/index.ts'
import { kindOf } from '../../kernel/support/regular-file.ts'
import { CommandFailure } from '../failure.ts'
import { packageFolder } from '../package.ts'
import { quietly } from '../run/standard-output.ts'
import { registerTypeScript } from '../typescript/register.ts'
import { failed, guardImport, type ImportLimit } from './guard.ts'
import { forbidListening, listens } from './listening.ts'

/** Where the server of an application is looked for, in this order. */
export const entryFiles = ['src/server', 'server', 'src/app', 'app'].flatMap((name) =>
  ['.ts', '.mts', '.js', '.mjs'].map((extension) => name + extension),
)

/** Where it is when only what was built is there. */
const builtFiles = ['server', 'app'].flatMap((name) => [`dist/${name}.js`, `dist/${name}.mjs`])

/**
 * The module with the server of this folder, as far as there is one: the sources go before what was built of them. The
 * folder of this package has none, though it has a `server.ts`.
 */
export const findEntry = (): string | undefined =>
  process.cwd() === packageFolder() ? undefined : [...entryFiles, ...builtFiles].find((file) => existsSync(file))

/** The names under which it is looked for there. */
const serverNames = ['server', 'default', 'app'] as const

/** Seconds, more than any module needs: one that awaits what never comes would otherwise be waited for forever. */
export const defaultTimeout = 30

export interface ApplicationOptions {
  /** The module with the server. */
  readonly entry?: string | undefined
  /** What that module calls it; a function is called without arguments. */
  readonly export?: string | undefined
  /** Seconds that it may take. Default 30. */
  readonly timeout?: number | undefined
  /** `false`: no server of the application may listen, also after the import. */
  readonly mayListen?: boolean | undefined
}

/** An application's server, imported and neither booted nor listening. */
export interface Application {
  /** As it was named or found, relative to the folder of the process. */
  readonly entry: string
  /** Its absolute path. */
  readonly file: string
  readonly server: Kernel
}

/**
 * Imports the module that exports the server of the application in this folder.
 *
 * What it writes to standard output meanwhile goes to standard error, for the result of the command to be alone there.
 *
 * @throws (as a rejection) CommandFailure telling what was looked for, or what the module did wrong and where.
 */
export async function loadApplication(options: ApplicationOptions = {}): Promise<Application> {
  const entry = options.entry ?? findEntry()
  if (entry === undefined) {
    throw new CommandFailure(`${noServer()}. Pass the module that exports it: --entry <file>`)
  }
  const file = resolve(entry)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailure(`the entry ${entry} does not exist`)
  if (found.isDirectory()) throw new CommandFailure(`the entry ${entry} is a folder: pass the file in it`)
  if (!found.isFile()) throw new CommandFailure(`the entry ${entry} is ${kindOf(found)}, not a file`)
  const server = await importQuietly(
    file,
    entry,
    { ...limitOf(options.timeout), mayListen: options.mayListen },
    (exported) => pickServer(exported, entry, options.export),
  )
  if (server.isListening) throw listens(entry)
  return { entry, file, server }
}

/**
 * Imports a module of the application, and makes something of what it exports: TypeScript too, with its output on standard error.
 *
 * @throws (as a rejection) CommandFailure telling what it did wrong and where; it may neither listen nor take longer than that.
 */
export function importQuietly<Result>(
  file: string,
  shown: string,
  limit: ImportLimit,
  take: (exported: Record<string, unknown>) => Promise<Result>,
): Promise<Result> {
  return quietly(async () => {
    if (/^\.[cm]?tsx?$/.test(extname(file))) await registerTypeScript()
    // Before its first module, as 'framework/env' does.
    const { loadEnvironment } = await import('../../plugins/toolkit/environment/process.ts')
    loadEnvironment()
    const allowListening = await forbidListening(file, shown)
    try {
      return await guardImport(shown, limit, async () => take(await import(pathToFileURL(file).href)))
    } finally {
      if (limit.mayListen !== false) allowListening()
    }
  })
}

/** Where a flag says how long, it can say more. */
const limitOf = (seconds: number | undefined): ImportLimit =>
  seconds === undefined ? { seconds: defaultTimeout } : { seconds, remedy: '--timeout <seconds> waits longer' }

/** Where a server was looked for in vain. */
export const noServer = () => `no server found in ${process.cwd()}: looked for ${summary()}`

const summary = () =>
  [...new Set(entryFiles.map((file) => file.replace(/\.\w+$/, '')))].map((name) => `${name}.ts`).join(', ') +
  ' (also .mts, .js, .mjs), dist/server.js'

async function pickServer(exported: Record<string, unknown>, entry: string, name: string | undefined): Promise<Kernel> {
  const names = name === undefined ? serverNames : [name]
  for (const one of names) {
    let value = exported[one]
    if (typeof value === 'function' && name !== undefined && !isServer(value)) {
      value = await Promise.resolve()
        .then(() => (exported[one] as () => unknown)())
        .catch((error: unknown) => failed(`${entry}: ${name}() fails`, error))
    }
    if (isServer(value)) return value
  }
  const has = Object.keys(exported).sort()
  throw new CommandFailure(
    `${entry} exports no server: looked for ${names.map((one) => (one === 'default' ? 'the default export' : `"${one}"`)).join(', ')}. ` +
      `It exports ${has.length === 0 ? 'nothing' : has.join(', ')}. Write "export const server = new Server(…)", or pass the name of the export: --export <name>`,
  )
}

/** By what it can do: it may come from another copy of the package. */
function isServer(value: unknown): value is Kernel {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Kernel>).ready === 'function' &&
    typeof (value as Partial<Kernel>).listen === 'function' &&
    'listing' in value
  )
}
