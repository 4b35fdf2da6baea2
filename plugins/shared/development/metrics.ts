import type { ServiceStore, Services } from '../../../kernel/index.ts'

/** One figure of a plugin, for the plugin `metrics`. */
export interface Figure {
  /** The name, in snake case, with the unit at its end; for a counter without `_total`, which is added. */
  readonly name: string
  /** The type: a `counter` only grows until the process ends, a `gauge` goes up and down. */
  readonly type: 'counter' | 'gauge'
  /** Its meaning, in a sentence. */
  readonly help: string
  /** The last word of the name, if it is a unit: `seconds` or `bytes`. */
  readonly unit?: string
  /** The current values, each with its labels. */
  readonly samples: readonly FigureSample[]
  /** How samples with the same labels are combined where the plugin is in several scopes. Default `'sum'`. */
  readonly scopes?: 'sum' | 'least'
}

/** One value of a figure. */
export interface FigureSample {
  /** The number; for a counter, the total since the process started. */
  readonly value: number
  /** The labels by name; none of their values may come from a client. */
  readonly labels?: { readonly [name: string]: string }
}

/** Returns the current figures of one plugin, with the services of its scope. Called at each scrape. */
export type FigureSource = (
  services: ServiceStore & Partial<Services>,
) => readonly Figure[] | Promise<readonly Figure[]>

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The figures of this plugin. For the plugin `metrics`. */
    readonly metrics?: FigureSource
  }
}

/** A figure without labels, or with one label whose values are the keys. */
export function figure(
  type: Figure['type'],
  name: string,
  help: string,
  value: number | readonly FigureSample[],
  more?: Pick<Figure, 'unit' | 'scopes'>,
): Figure {
  return { type, name, help, samples: typeof value === 'number' ? [{ value }] : value, ...more }
}
