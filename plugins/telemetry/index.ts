import type { Telemetry } from './service.ts'

export type { TelemetryOptions } from './options.ts'
export { telemetry } from './plugin.ts'
export type { Telemetry } from './service.ts'

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** `false`: requests of the route have no spans, and neither does their work. */
    telemetry?: false
  }
}

declare module '../../kernel/plugin/services.ts' {
  interface Services {
    /** Traces `fetch`, passes the context on to other clients, and names the active span, with the plugin `telemetry`. */
    telemetry: Telemetry
  }
}
