export type { StaticOptions } from './options.ts'
// A reserved word, which an export may be called and a constant may not.
export { staticFiles as static } from './plugin.ts'
