export type { JsonOptions } from './options.ts'
export { json } from './plugin.ts'
