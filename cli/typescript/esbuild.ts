import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)
let isRunning = false

/**
 * esbuild, which is optional: the hooks are registered only if it is installed. Its calls are synchronous, as hooks are; the first one starts its
 * process, and a thread that waits for it. What `NODE_OPTIONS` loads before an application would run in that thread a second time.
 */
export function esbuild(): typeof import('esbuild') {
  const loaded = load('esbuild') as typeof import('esbuild')
  if (isRunning) return loaded
  isRunning = true
  const options = process.env.NODE_OPTIONS
  delete process.env.NODE_OPTIONS
  try {
    loaded.transformSync('')
  } finally {
    if (options !== undefined) process.env.NODE_OPTIONS = options
  }
  return loaded
}
