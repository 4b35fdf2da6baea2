import type { PluginEntry } from '../plugin/scope.ts'
import { Trace, type TraceOutcome } from '../support/trace.ts'

/** One phase of the life of one plugin: its `setup`, or one of its hooks. */
export interface PluginTrace extends TraceOutcome {
  /** The name of the plugin. */
  readonly plugin: string
  /** The name of the scope that it runs in; `root` for the scope of the server. */
  readonly scope: string
  /** `setup`, or the hook: `ready`, `listen`, `lead`, `drain`, `close`. */
  readonly phase: string
}

export const pluginTrace = new Trace<PluginTrace>('plugin')

export function tracePlugin<Result>({ name, scope }: PluginEntry, phase: string, work: () => Result): Result {
  return pluginTrace.run(() => ({ plugin: name, scope: scope.name, phase }), work)
}
