export type { MethodOverrideOptions } from './options.ts'
export { methodOverride } from './plugin.ts'
