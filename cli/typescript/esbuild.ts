import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/**
 * esbuild, which is optional: the hooks are registered only if it is installed. Its calls are synchronous, as hooks are; the first one starts its
 * process, and a thread that waits for it.
 */
export const esbuild = () => load('esbuild') as typeof import('esbuild')
