import type { Check, HealthCheck } from './options.ts'

export type { Check, CheckCall, CheckedServices, CheckFailure, HealthCheck, HealthOptions } from './options.ts'
export { health } from './plugin.ts'

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The plugin's checks on which readiness depends, by name: `false`, a throw or a rejection means no, `'degraded'` yes. For the plugin `health`. */
    readonly health?: { readonly [name: string]: Check | HealthCheck }
  }
}
