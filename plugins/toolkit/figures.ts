import { announcePluginData, type ServiceStore, type Services } from '../../kernel/index.ts'

announcePluginData('metrics')

/** One figure that a plugin counts, for the plugin `metrics`. */
export interface Figure {
  /** The name, in snake case, with the unit at its end; of a counter without `_total`, which is added. */
  readonly name: string
  /** A `counter` only grows until the process ends, a `gauge` goes up and down. */
  readonly type: 'counter' | 'gauge'
  /** What is counted, in a sentence. */
  readonly help: string
  /** The last word of the name, where it is a unit: `seconds` or `bytes`. */
  readonly unit?: string
  /** The values as they are now, each with its labels. */
  readonly samples: readonly FigureSample[]
  /** What becomes of samples with the same labels where the plugin is in several scopes. Default `'sum'`. */
  readonly scopes?: 'sum' | 'least'
}

/** One value of a figure. */
export interface FigureSample {
  /** The number; of a counter all since the process started. */
  readonly value: number
  /** The labels by name; no value of them may come from a client. */
  readonly labels?: { readonly [name: string]: string }
}

/** Gives the figures of one plugin as they are now, with the services of its scope. Asked at each scrape. */
export type FigureSource = (
  services: ServiceStore & Partial<Services>,
) => readonly Figure[] | Promise<readonly Figure[]>

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** What this plugin counts. For the plugin `metrics`. */
    readonly metrics?: FigureSource
  }
}

/** A figure without labels, or with one label whose values are the keys. */
export function figure(
  type: Figure['type'],
  name: string,
  help: string,
  value: number | readonly FigureSample[],
): Figure {
  return { type, name, help, samples: typeof value === 'number' ? [{ value }] : value }
}
