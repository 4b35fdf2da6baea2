import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command, Kernel } from '../kernel/index.ts'
import { CommandFailure } from './failure.ts'
import { registerTypeScript } from './typescript/register.ts'

/** Where the server of an application is looked for, in this order. */
export const entryFiles = ['src/server', 'server', 'src/app', 'app'].flatMap((name) =>
  ['.ts', '.mts', '.js', '.mjs'].map((extension) => name + extension),
)

/** The names under which it is looked for there. */
export const serverNames = ['server', 'default', 'app'] as const

/** Seconds, more than any module needs: one that awaits what never comes would otherwise be waited for forever. */
export const defaultTimeout = 30

export interface ApplicationOptions {
  /** The module with the server. */
  readonly entry?: string | undefined
  /** What that module calls it; a function is called without arguments. */
  readonly export?: string | undefined
  /** Seconds that it may take. Default 30. */
  readonly timeout?: number | undefined
}

/** An application's server, imported and neither booted nor listening. */
export interface Application {
  /** As it was named or found, relative to the folder of the process. */
  readonly entry: string
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
  const entry = options.entry ?? entryFiles.find((file) => existsSync(file))
  if (entry === undefined) {
    throw new CommandFailure(
      `no server found in ${process.cwd()}: looked for ${summary()}. Name the module that exports it: --entry <file>`,
    )
  }
  const file = resolve(entry)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailure(`the entry ${entry} does not exist`)
  if (found.isDirectory()) throw new CommandFailure(`the entry ${entry} is a folder: name the file in it`)
  const giveBack = redirectOutput()
  try {
    if (/^\.[cm]?tsx?$/.test(extname(file))) await registerTypeScript()
    const allowListening = await forbidListening(file, entry)
    const server = await guarded(entry, options.timeout ?? defaultTimeout, async () =>
      pickServer(await import(pathToFileURL(file).href), entry, options.export),
    )
    allowListening()
    if (server.isListening) throw listens(entry)
    return { entry, server }
  } finally {
    giveBack()
  }
}

/** The commands of the plugins of the application in this folder; none where there is no application. */
export async function applicationCommands(note: (line: string) => void): Promise<Command[]> {
  if (!entryFiles.some((file) => existsSync(file))) return []
  const { commandsOf } = await import('./registry.ts')
  try {
    return await commandsOf((await loadApplication()).server)
  } catch (error) {
    note(`the commands of the application are not known: ${error instanceof Error ? error.message : String(error)}`)
    return []
  }
}

const summary = () =>
  [...new Set(entryFiles.map((file) => file.replace(/\.\w+$/, '')))].map((name) => `${name}.ts`).join(', ') +
  ' (also .mts, .js, .mjs)'

async function failed(what: string, error: unknown): Promise<never> {
  if (error instanceof CommandFailure) throw error
  const { describeFailure } = await import('./typescript/failure.ts')
  throw new CommandFailure(`${what}: ${describeFailure(error)}`, { cause: error })
}

/** Runs code of the application: whatever it does, the process goes on until what it did can be told. */
async function guarded<Result>(entry: string, seconds: number, run: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  // The module may end the process: that this was not the plan is all that can still be told.
  const onExit = (code: number) => {
    process.stderr.write(`${entry} ended the process with code ${code} while it was imported\n`)
    process.exitCode = code || 1
  }
  process.once('exit', onExit)
  const late = new Promise<never>((_resolve, reject) => {
    const why = `${entry} has not finished after ${seconds} s: something that it awaits never comes (--timeout <seconds> waits longer)`
    timer = setTimeout(() => reject(new CommandFailure(why)), seconds * 1000)
  })
  // An error of a promise or a timer of the module ends the process otherwise, with a stack and without its name.
  let failLater: (error: unknown) => void = () => {}
  const later = new Promise<never>((_resolve, reject) => {
    failLater = reject
  })
  const events = ['uncaughtException', 'unhandledRejection'] as const
  for (const event of events) process.on(event, failLater)
  try {
    const result = await Promise.race([run(), late, later])
    // A promise that the last line has left alone, `server.listen()` for one, is told of after this turn.
    await Promise.race([new Promise((resolve) => setImmediate(resolve)), later])
    return result
  } catch (error) {
    return await failed(`${entry} cannot be imported`, error)
  } finally {
    clearTimeout(timer)
    process.off('exit', onExit)
    for (const event of events) process.off(event, failLater)
  }
}

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
      `It exports ${has.length === 0 ? 'nothing' : has.join(', ')}. Write "export const server = new Server(…)", or name the export: --export <name>`,
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

const listens = (entry: string) =>
  new CommandFailure(
    `${entry} calls server.listen() when it is imported. Move that call to a file of its own (src/index.ts), which imports the server`,
  )

/** Makes `listen()` of the framework that the module uses an error, before it could bind a port. */
async function forbidListening(file: string, entry: string): Promise<() => void> {
  let Server: { readonly prototype: object } | undefined
  try {
    const door = createRequire(file).resolve('framework')
    Server = ((await import(pathToFileURL(door).href)) as { Server?: typeof Server }).Server
  } catch {
    // Another layout: what listens is found out afterwards.
  }
  if (Server === undefined) return () => {}
  const { prototype } = Server
  const refuse = async () => {
    throw listens(entry)
  }
  Object.defineProperty(prototype, 'listen', { configurable: true, value: refuse })
  return () => Reflect.deleteProperty(prototype, 'listen')
}

function redirectOutput(): () => void {
  const { write } = process.stdout
  const { log, info, debug } = console
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof write
  // On Bun and Deno the console does not go through the stream.
  Object.assign(console, { log: console.error, info: console.error, debug: console.error })
  return () => {
    process.stdout.write = write
    Object.assign(console, { log, info, debug })
  }
}
