import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of the telemetry. */
export interface TelemetryOptions {
  /** Whether requests have spans. Default true; if an instrumentation has made the server's span, the route is added to that one. */
  requests?: boolean
  /** Whether handlers have spans of their own within those of their requests. Default true. */
  handlers?: boolean
  /** Whether the steps of the chain have spans. Default false. */
  steps?: boolean
  /** Whether the phases of plugins have spans: `setup` and hooks. Default false. */
  plugins?: boolean
  /** Whether resolvers of GraphQL have spans. Default false. */
  resolvers?: boolean
  /** Whether `fetch` has spans and carries the context. Default `'auto'`: on Node.js, unless an instrumentation already does this. */
  fetch?: boolean | 'auto'
  /** How to use the context a client sends: as the parent of the request's span, or as a link in a new trace. Default `'parent'`. */
  incoming?: 'parent' | 'link'
  /** The same for the context that messages of queues and MQTT carry; a parent is also linked. Default `'parent'`. */
  messages?: 'parent' | 'link'
  /** Whether responses name the trace in the header `traceresponse`. Default false. */
  traceResponse?: boolean
}

const origin = option.oneOf('parent', 'link').default('parent')

export const telemetryOptions = option
  .shape({
    requests: option.flag().default(true),
    handlers: option.flag().default(true),
    steps: option.flag().default(false),
    plugins: option.flag().default(false),
    resolvers: option.flag().default(false),
    fetch: option.either(option.flag(), option.oneOf('auto')).says('true, false or "auto"').default('auto'),
    incoming: origin,
    messages: origin,
    traceResponse: option.flag().default(false),
  })
  .typed<TelemetryOptions>()

export type TelemetrySettings = SettingsOf<typeof telemetryOptions>
