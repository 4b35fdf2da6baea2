// esbuild needs the folder where it is loaded ever after: that of a test is removed. Where hooks have a thread, it is loaded there, too.
import 'esbuild'

/** @type {Int32Array} */
let run

/** @param {Int32Array} data */
export const initialize = (data) => {
  run = data
}

/**
 * Modules of a project, and of the framework, have the number of the run in their URL, so that each run has its own.
 *
 * @param {import('node:module').ResolveFnOutput} found
 * @returns {import('node:module').ResolveFnOutput}
 */
const ofThisRun = (found) => {
  if (!found.url.startsWith('file:') || /\.(json|node|wasm)\b/.test(found.url)) return found
  const own = found.url.replace('/node_modules/framework/dist/', '/')
  if (own.includes('/node_modules/') || /[?&]run=|\/cli\/typescript\/hooks\.js$/.test(own)) return found
  return { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}run=${Atomics.load(run, 0)}` }
}

/** @type {import('node:module').ResolveHook} */
export const resolve = async (specifier, context, next) => ofThisRun(await next(specifier, context))

/** @type {import('node:module').ResolveHookSync} */
export const resolveSync = (specifier, context, next) => ofThisRun(next(specifier, context))
