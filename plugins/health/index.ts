import type { Check } from './options.ts'

export type { Check, CheckedServices, HealthOptions } from './options.ts'
export { health } from './plugin.ts'

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The checks on which readiness depends, by name: `false`, a throw and a rejection mean no. For the plugin `health`. */
    readonly health?: { readonly [name: string]: Check }
  }
}
