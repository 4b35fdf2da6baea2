import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kernel } from '../../kernel/index.ts'
import { isObject } from '../../plugins/shared/values/json.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { builtOf } from '../build/layout.ts'
import { CommandFailure } from '../failure.ts'
import { packageName } from '../package.ts'
import { existingEntry, modulesOf, projectSettings } from '../project/start-file.ts'
import { quietly } from '../run/standard-output.ts'
import { registerTypeScript } from '../typescript/register.ts'
import { failed, guardImport } from './guard.ts'

/** Where to look for the server of an application, in this order. */
export const entryFiles = modulesOf('src/server', 'server', 'src/app', 'app')

/** The same for a folder that has only a build. */
const builtFiles = ['server', 'app'].flatMap((name) => [`dist/${name}.js`, `dist/${name}.mjs`])

/** The module with the server of this folder, if there is one: the sources take precedence over their build. */
export function findEntry(): string | undefined {
  const { server } = projectSettings()
  const files = server === undefined ? [...entryFiles, ...builtFiles] : [server, builtOf(process.cwd(), server)]
  // A named module that does not exist is reported by its name.
  return files.find((file) => existsSync(file)) ?? server
}

/** The folders of this application that have its commands; that of the build if only a build exists. */
export function commandFolders(): readonly string[] {
  const sources = ['src/commands', 'commands'].filter((folder) => existsSync(folder))
  return sources.length > 0 ? sources : ['dist/commands'].filter((folder) => existsSync(folder))
}

/** The possible names of the export with the server. */
const serverNames = ['server', 'default', 'app'] as const

/** How a module of the application is imported. */
interface ImportOptions {
  /** Timeout in seconds, from a flag of the command. Default 30. */
  readonly timeout?: number | undefined
  /** `false` if no server of the application may listen, even after the import. */
  readonly mayListen?: boolean | undefined
}

export interface ApplicationOptions extends ImportOptions {
  /** The module with the server. */
  readonly entry?: string | undefined
  /** The name of its export; a function is called without arguments. */
  readonly export?: string | undefined
}

/** An application's server, which was imported and is neither booted nor listening. */
export interface Application {
  /** The module as it was named or found, relative to the working folder of the process. */
  readonly entry: string
  /** Its absolute path. */
  readonly file: string
  readonly server: Kernel
}

/**
 * Imports the module that exports the server of the application in this folder.
 *
 * Meanwhile, its standard output goes to standard error, so that only the result of the command is on standard output.
 *
 * @throws (as a rejection) CommandFailure with the searched files, or with the mistake in the module and its place.
 */
export async function loadApplication(options: ApplicationOptions = {}): Promise<Application> {
  const entry = options.entry ?? findEntry()
  if (entry === undefined) {
    throw new CommandFailure(`${noServer()}. Pass the module that exports it: --entry <file>`)
  }
  const file = existingEntry(entry, resolve(entry))
  const name = options.export ?? (options.entry === undefined ? projectSettings().export : undefined)
  const server = await importQuietly(file, entry, options, (exported) => pickServer(exported, entry, name))
  if (server.isListening) throw listens(entry)
  return { entry, file, server }
}

/**
 * Imports a module of the application, even in TypeScript, and processes its exports; its output goes to standard error.
 *
 * @throws (as a rejection) CommandFailure with its mistake and the place, also if it listens or takes longer than the timeout.
 */
export function importQuietly<Result>(
  file: string,
  shown: string,
  { timeout, mayListen }: ImportOptions,
  take: (exported: Record<string, unknown>) => Promise<Result>,
): Promise<Result> {
  return quietly(async () => {
    if (/^\.[cm]?tsx?$/.test(extname(file))) await registerTypeScript()
    // Before its first module is loaded, as 'framework/env' does.
    const { loadEnvironment } = await import('../../plugins/shared/environment/process.ts')
    loadEnvironment()
    const allowListening = await forbidListening(file, shown)
    try {
      return await guardImport(shown, timeout, async () => take(await import(pathToFileURL(file).href)))
    } finally {
      if (mayListen !== false) allowListening()
    }
  })
}

/** The places where no server was found. */
export function noServer(): string {
  const names = new Set(entryFiles.map((file) => file.replace(/\.\w+$/, '.ts')))
  return `no server found in ${process.cwd()}: looked for ${[...names].join(', ')} (also .mts, .js, .mjs), dist/server.js`
}

async function pickServer(exported: Record<string, unknown>, entry: string, name: string | undefined): Promise<Kernel> {
  const names = name === undefined ? serverNames : [name]
  for (const one of names) {
    let value = exported[one]
    if (typeof value === 'function' && name !== undefined && !isServer(value)) {
      value = await Promise.resolve()
        .then(() => (exported[one] as () => unknown)())
        .catch((error: unknown) => failed(`${entry}: ${name}() fails`, error))
      if (!isServer(value)) throw new CommandFailure(`${entry}: ${name}() returned ${typeof value}, not a server`)
    }
    if (isServer(value)) return value
  }
  const has = Object.keys(exported).sort()
  throw new CommandFailure(
    `${entry} exports no server: looked for ${names.map((one) => (one === 'default' ? 'the default export' : `"${one}"`)).join(', ')}. ` +
      `It exports ${has.length === 0 ? 'nothing' : has.join(', ')}. Write "export const server = new Server(…)", or pass the name of the export: --export <name>`,
  )
}

/** Recognises a server by its methods: it may come from another copy of the package. */
const isServer = (value: unknown): value is Kernel =>
  isObject(value) && [value.ready, value.listen].every((one) => typeof one === 'function') && 'listing' in value

/** The file to which a name resolves for a module of the application: it may belong to another copy of the package. */
export function resolveFrom(file: string, specifier: string): string | undefined {
  return safely(() => createRequire(file).resolve(specifier))
}

/** The message about a module that starts the server while it is imported. */
const listens = (file: string) =>
  new CommandFailure(
    `${file} calls server.listen() when it is imported. Move that call to a file of its own (src/index.ts), which imports the server`,
  )

/**
 * Makes `listen()` of the framework that a module uses throw before it could bind a port. Returns a function that allows it again.
 */
async function forbidListening(file: string, shown: string): Promise<() => void> {
  const entryPoint = resolveFrom(file, packageName)
  if (entryPoint === undefined) return () => {}
  // If it cannot be imported because its layout is different, listening is detected afterwards.
  const { Server } = await import(pathToFileURL(entryPoint).href).catch(() => ({}) as { Server?: never })
  const prototype = (Server as { readonly prototype: Kernel } | undefined)?.prototype
  if (prototype === undefined) return () => {}
  const { listen } = prototype
  let isForbidden = true
  const guarded: Kernel['listen'] = async function (this: Kernel, ...given) {
    if (isForbidden) throw listens(shown)
    return listen.apply(this, given)
  }
  // A server keeps the method that it was created with: it must be able to listen if a command needs that afterwards.
  Object.defineProperty(prototype, 'listen', { configurable: true, writable: true, value: guarded })
  return () => {
    isForbidden = false
    Reflect.deleteProperty(prototype, 'listen')
  }
}
