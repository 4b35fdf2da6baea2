/** @type {Int32Array} */
let run
/** Where all projects of tests have the same build. */
let shared = ''

/** @param {{ run: Int32Array, shared: string }} data */
export const initialize = (data) => {
  run = data.run
  shared = data.shared
}

/**
 * Modules of a project, and of the framework, have the number of the run in their URL, so that each run has its own. Those of the framework are
 * the same files for all projects, so that what a process of an earlier test file has compiled is read.
 *
 * @param {import('node:module').ResolveFnOutput} found
 * @returns {import('node:module').ResolveFnOutput}
 */
const ofThisRun = (found) => {
  if (!found.url.startsWith('file:') || /\.(json|node|wasm)\b/.test(found.url)) return found
  const own = found.url.replace('/node_modules/framework/dist/', '/')
  if (own.includes('/node_modules/') || /[?&]run=|\/cli\/typescript\/hooks\.js$/.test(own)) return found
  const isAtItsPlace = shared === '' || Atomics.load(run, 1) === 1
  const url = isAtItsPlace ? found.url : found.url.replace(/^.*(?=\/node_modules\/framework\/dist\/)/, shared)
  return { ...found, url: `${url}${url.includes('?') ? '&' : '?'}run=${Atomics.load(run, 0)}` }
}

/** @type {import('node:module').ResolveHook} */
export const resolve = async (specifier, context, next) => ofThisRun(await next(specifier, context))

/** @type {import('node:module').ResolveHookSync} */
export const resolveSync = (specifier, context, next) => ofThisRun(next(specifier, context))
