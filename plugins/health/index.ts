export type { Check, HealthOptions } from './options.ts'
export { health } from './plugin.ts'
