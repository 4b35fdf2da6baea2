import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { safely } from '../../plugins/shared/values/safely.ts'
import { CommandFailure, oneOf } from '../failure.ts'
import { packageFolder } from '../package.ts'
import { findProject, type Runtime } from '../project/project.ts'

/** How the application is started. */
export type Launch = ReturnType<typeof chooseLaunch>

const names = { node: 'Node.js', bun: 'Bun', deno: 'Deno' } as const

/** The name of a runtime in its official spelling. */
export const nameOf = (runtime: Runtime): string => names[runtime]

/** The module of this package that runs before the first one of an application. */
export const preloadOf = (command: string): string => join(packageFolder(), `dist/cli/${command}/preload.js`)

/** The arguments with which a runtime runs a file in production, after these modules of this package. */
export function productionArguments(runtime: Runtime, file: string, ...preloads: readonly string[]): string[] {
  const flag = runtime === 'node' ? '--import' : '--preload'
  // Bun does not decode URLs.
  const before = preloads.map(preloadOf).flatMap((path) => [flag, runtime === 'bun' ? path : pathToFileURL(path).href])
  // Deno counts sharing a port as unstable.
  return [...(runtime === 'deno' ? ['run', '-A', '--unstable-net'] : []), ...before, file]
}

/** How the development server runs a start file. */
export function chooseLaunch(folder: string, startFile: string, asked?: Runtime) {
  const { runtime, program } = chooseRuntime(folder, asked)
  const preload = preloadOf('serve')
  const args = {
    node: ['--import', pathToFileURL(preload).href, startFile],
    // Bun would read the environment files by its own rules, and for example replace `$NAME` with other variables.
    bun: ['--no-env-file', '--preload', preload, startFile],
    deno: ['run', '-A', '--preload', preload, startFile],
  }
  return { runtime, program, preload, args: args[runtime] }
}

/**
 * The runtime for an application: the requested one, otherwise that of this command if it is Bun
 * or Deno, otherwise that of the project if it is installed, otherwise Node.js.
 *
 * @throws CommandFailure if the requested runtime is not installed.
 */
export function chooseRuntime(folder: string, asked?: Runtime) {
  const runtime = asked ?? (ownRuntime() === 'node' ? ofProject(folder) : ownRuntime())
  const program = programOf(runtime)
  if (program === undefined) {
    throw new CommandFailure(`${nameOf(runtime)} is not installed: there is no "${runtime}" on the PATH`)
  }
  return { runtime, program }
}

/** The runtime that a command names in an option. */
export const runtimeOf = (name: string | undefined): Runtime | undefined =>
  name === undefined ? undefined : oneOf('--runtime', name, Object.keys(names) as Runtime[])

/** The runtime of this command. */
export const ownRuntime = (): Runtime => ('Bun' in globalThis ? 'bun' : 'Deno' in globalThis ? 'deno' : 'node')

function ofProject(folder: string): Runtime {
  const { runtime } = findProject(folder)
  return programOf(runtime) === undefined ? 'node' : runtime
}

/** The program to start; if possible, that of this process: the same version, without a search. */
function programOf(runtime: Runtime): string | undefined {
  if (runtime === ownRuntime()) return process.execPath
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', ''] : ['']
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => endings.map((ending) => join(folder, runtime + ending)))
    .find(isProgram)
}

const isProgram = (file: string) =>
  safely(() => {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  }, false)
