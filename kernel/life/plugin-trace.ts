import type { PluginEntry } from '../plugin/scope.ts'
import { Trace, type TraceOutcome } from '../support/trace.ts'

/** One phase of the life of one plugin: its `setup`, or one of its hooks. */
export interface PluginTrace extends TraceOutcome {
  readonly plugin: string
  readonly scope: string
  readonly phase: string
}

export const pluginTrace = new Trace<PluginTrace>('plugin')

export function tracePlugin<Result>({ name, scope }: PluginEntry, phase: string, work: () => Result): Result {
  return pluginTrace.run(() => ({ plugin: name, scope: scope.name, phase }), work)
}
