import { pathToFileURL } from 'node:url'
import type { Kernel } from '../../kernel/index.ts'
import { CommandFailure } from '../failure.ts'
import { packageName } from '../package.ts'
import { resolveFrom } from './resolve.ts'

/** The message about a module that starts the server while it is imported. */
export const listens = (file: string) =>
  new CommandFailure(
    `${file} calls server.listen() when it is imported. Move that call to a file of its own (src/index.ts), which imports the server`,
  )

/**
 * Makes `listen()` of the framework that a module uses throw before it could bind a port. Returns a function that allows it again.
 */
export async function forbidListening(file: string, shown: string): Promise<() => void> {
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
