export type { ControllerFiles } from './loader.ts'
export { controllers } from './plugin.ts'
export * from './public.ts'
