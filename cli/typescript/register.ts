import { existsSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { CommandFailure } from '../failure.ts'
import { packageFolder } from '../package.ts'
import type { HookData } from './hooks.ts'

let registered: Promise<void> | undefined

/**
 * Lets Node.js import TypeScript from now on, with decorators of both protocols and the `paths` of tsconfig.json. Bun and
 * Deno do so by themselves.
 *
 * Files are translated one by one when they are imported, not bundled: files that globs find at boot are imported
 * under their own names, `import.meta.url` stays correct, and there is nothing to clean up.
 */
export function registerTypeScript(): Promise<void> {
  registered ??= start()
  return registered
}

async function start(): Promise<void> {
  if ('Bun' in globalThis || 'Deno' in globalThis) return
  try {
    // It is not loaded here: the thread of the hooks does so, and every start of an application would otherwise wait for it twice.
    createRequire(import.meta.url).resolve('esbuild')
  } catch (error) {
    // From 22.18 on, Node.js strips types itself, which is enough for files without decorators.
    if ((process.features as { readonly typescript?: unknown }).typescript) return
    throw new CommandFailure(
      `Node.js ${process.versions.node} cannot run TypeScript: install esbuild (npm install --save-dev esbuild), or pass a .js file with --entry`,
      error,
    )
  }
  // The hooks run in a thread of their own, and therefore from a file of their own.
  const hooks = join(packageFolder(), 'dist/cli/typescript/hooks.js')
  if (!existsSync(hooks)) throw new Error(`${hooks} is missing: build the package`)
  process.setSourceMapsEnabled(true)
  // Deprecated from Node.js 26 on in favour of hooks that run on the main thread, which are synchronous: with them, esbuild needs a
  // process for every file. This is the only place that uses it.
  const before = process.noDeprecation
  process.noDeprecation = true
  try {
    register<HookData>(pathToFileURL(hooks), { data: { isEager: isMainThread } })
  } finally {
    if (before === undefined) delete process.noDeprecation
    else process.noDeprecation = before
  }
}
