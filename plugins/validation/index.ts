export { validation } from './plugin.ts'
export * from './public.ts'
export type { Validation } from './service.ts'
