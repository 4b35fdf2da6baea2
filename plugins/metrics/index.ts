export type { LabelValues } from './instruments.ts'
export { metrics } from './plugin.ts'
export * from './public.ts'
