export { webhooks } from './plugin.ts'
export * from './public.ts'
