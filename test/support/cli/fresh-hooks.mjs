/** @type {Int32Array} */
let runs

/** @param {Int32Array} data */
export const initialize = (data) => {
  runs = data
}

/**
 * Modules of a project, and of the framework, have the number of the run in their URL, so that each run has its own.
 *
 * @type {import('node:module').ResolveHook}
 */
export const resolve = async (specifier, context, next) => {
  const found = await next(specifier, context)
  if (!found.url.startsWith('file:') || /\.(json|node|wasm)\b/.test(found.url)) return found
  const own = found.url.replace('/node_modules/framework/dist/', '/')
  if (own.includes('/node_modules/') || /[?&]run=|\/cli\/typescript\/hooks\.js$/.test(own)) return found
  return { ...found, url: `${found.url}${found.url.includes('?') ? '&' : '?'}run=${Atomics.load(runs, 0)}` }
}
