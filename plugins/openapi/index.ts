export { describeServer } from './document/describe.ts'
export { openapi } from './plugin.ts'
export * from './public.ts'
export type * from './types.ts'
