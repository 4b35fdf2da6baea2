export { describeMessages } from './document/describe.ts'
export { asyncapi } from './plugin.ts'
export * from './public.ts'
export type * from './types.ts'
