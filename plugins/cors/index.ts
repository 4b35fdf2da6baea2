export type { CorsOptions } from './options.ts'
export type { OriginFunction, OriginOption } from './origin.ts'
export { cors } from './plugin.ts'
