export { database } from './plugin.ts'
export * from './public.ts'
export type { DatabaseTrace } from './queries.ts'
