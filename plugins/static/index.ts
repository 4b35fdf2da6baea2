export type { StaticOptions } from './options.ts'
// A reserved word is allowed as the name of an export, but not of a constant.
export { staticFiles as static } from './plugin.ts'
