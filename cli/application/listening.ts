import { pathToFileURL } from 'node:url'
import { CommandFailure } from '../failure.ts'
import { resolveFrom } from './resolve.ts'

/** What is said of a module that starts the server while it is imported. */
export const listens = (file: string) =>
  new CommandFailure(
    `${file} calls server.listen() when it is imported. Move that call to a file of its own (src/index.ts), which imports the server`,
  )

/**
 * Makes `listen()` of the framework that a module uses an error, before it could bind a port. Returns how to allow it again.
 */
export async function forbidListening(file: string, shown: string): Promise<() => void> {
  const door = resolveFrom(file, 'framework')
  if (door === undefined) return () => {}
  // Where it cannot be imported, another layout, what listens is found out afterwards.
  const { Server } = await import(pathToFileURL(door).href).catch(() => ({}) as { Server?: never })
  const prototype = (Server as { readonly prototype: object } | undefined)?.prototype
  if (prototype === undefined) return () => {}
  const refuse = async () => {
    throw listens(shown)
  }
  Object.defineProperty(prototype, 'listen', { configurable: true, value: refuse })
  return () => Reflect.deleteProperty(prototype, 'listen')
}
