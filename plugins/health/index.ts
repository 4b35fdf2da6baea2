export type { Check, CheckedServices, HealthOptions } from './options.ts'
export { health } from './plugin.ts'
