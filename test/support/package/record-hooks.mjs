import { appendFileSync } from 'node:fs'

let log = ''

export function initialize(/** @type {{ log: string }} */ data) {
  log = data.log
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const result = await next(specifier, context)
  appendFileSync(log, `${result.url}\n`)
  return result
}
