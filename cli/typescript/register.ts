import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandFailure } from '../failure.ts'
import { packageFolder } from '../package.ts'

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
    // It is not loaded here, but with the first file that it translates.
    createRequire(import.meta.url).resolve('esbuild')
  } catch (error) {
    // From 22.18 on, Node.js strips types itself, which is enough for files without decorators.
    if ((process.features as { readonly typescript?: unknown }).typescript) return
    throw new CommandFailure(
      `Node.js ${process.versions.node} cannot run TypeScript: install esbuild (npm install --save-dev esbuild), or pass a .js file with --entry`,
      error,
    )
  }
  process.setSourceMapsEnabled(true)
  // From 22.15 on, hooks run on the main thread; before, in a thread of their own, and therefore from a file of their own.
  const { registerHooks } = module as { registerHooks?(hooks: typeof import('./hooks.ts')): unknown }
  if (registerHooks !== undefined) return void registerHooks(await import('./hooks.ts'))
  const hooks = join(packageFolder(), 'dist/cli/typescript/hooks.js')
  if (!existsSync(hooks)) throw new Error(`${hooks} is missing: build the package`)
  module.register(pathToFileURL(hooks))
}
