export type { StorageTrace } from './disk.ts'
export { storage } from './plugin.ts'
export * from './public.ts'
