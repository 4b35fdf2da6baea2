/** The runtimes with a server of their own. */
export type RuntimeName = 'node' | 'bun' | 'deno'

/** The runtime of this process. Bun and Deno also have a `process` that looks like Node's, so they are checked first. */
export function detectRuntime(): RuntimeName {
  if ('Bun' in globalThis) return 'bun'
  if ('Deno' in globalThis) return 'deno'
  return 'node'
}

/** Whether this process is Deno. */
export const isDeno = detectRuntime() === 'deno'

/** Whether this process is Bun, whose `node:http` shows less about its connections than Node's does. */
export const isBun = detectRuntime() === 'bun'
