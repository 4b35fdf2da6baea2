/** The runtimes with a server of their own. */
export type RuntimeName = 'node' | 'bun' | 'deno'

/** Which runtime this process is. Both others also have a `process` that looks like Node's, so they are asked first. */
export function detectRuntime(): RuntimeName {
  if ('Bun' in globalThis) return 'bun'
  if ('Deno' in globalThis) return 'deno'
  return 'node'
}

/** Whether this process is Bun, whose `node:http` shows less of its connections than Node's. */
export const isBun = detectRuntime() === 'bun'
