export type { InspectorOptions } from './options.ts'
export { inspector } from './plugin.ts'
