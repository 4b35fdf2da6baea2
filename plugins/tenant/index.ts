export { tenant } from './plugin.ts'
export * from './public.ts'
