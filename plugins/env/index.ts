export { env } from './plugin.ts'
export * from './public.ts'
