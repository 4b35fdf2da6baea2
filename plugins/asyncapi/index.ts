export { describeMessages } from './document/describe.ts'
export { asyncapi } from './plugin.ts'
export * from './public.ts'
export type {
  AsyncApiChannelObject,
  AsyncApiInfo,
  AsyncApiMessageObject,
  AsyncApiOperation,
  AsyncApiReference,
  AsyncApiSchema,
  AsyncApiServer,
  AsyncApiTag,
} from './types.ts'
