export { policy } from './plugin.ts'
export * from './public.ts'
