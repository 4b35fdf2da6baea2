import { readFile } from 'node:fs/promises'
import { register } from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'

// `--import` of this file after tsx: a process of a test loads the modules of modules.ts in place of the sources.
const folder = process.env.FRAMEWORK_TEST_MODULES
if (folder !== undefined && isMainThread) register(import.meta.url, { data: folder })

const root = new URL('../../../', import.meta.url).href
let modules = ''

/** @type {import('node:module').InitializeHook<string>} */
export function initialize(data) {
  modules = `${pathToFileURL(data).href}/`
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context)
  const [url = ''] = resolved.url.split('?')
  const path = url.startsWith(root) ? url.slice(root.length) : ''
  if (!/^(?:index|server|(?:kernel|plugins|cli)\/.*)\.ts$/.test(path)) return resolved
  return { url: modules + path.replace(/ts$/, 'mjs'), format: 'module', shortCircuit: true }
}

/** tsx would translate a megabyte of JavaScript. @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith(modules)) return next(url, context)
  return { format: 'module', source: await readFile(new URL(url)), shortCircuit: true }
}
