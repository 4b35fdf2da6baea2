export { upload } from './plugin.ts'
export * from './public.ts'
export type { UploadTrace } from './receiver.ts'
