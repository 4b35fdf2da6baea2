import type { ServiceStore, Services } from '../../../kernel/index.ts'

/** The services of the scope in which the plugin of a panel is registered. */
export type PanelServices = ServiceStore & Partial<Services>

/** The value of one cell. A date is shown as a time, an object as JSON with its secrets redacted. */
export type PanelCell = string | number | boolean | Date | object | null | undefined

/** One row of a panel. */
export interface PanelRow {
  /** The id that the row's actions receive; unique within the panel. */
  readonly id: string
  /** The values, one for each column. */
  readonly cells: readonly PanelCell[]
}

type ShownRow = PanelRow | readonly PanelCell[]
type PanelRows = Iterable<ShownRow>

/** An action for a row. */
export interface PanelAction {
  /** The text of its button. */
  readonly name: string
  /** The question to ask before it runs; by default, it runs without a question. */
  readonly confirm?: string
  /** Runs the action for the row with this id. The result is shown: text, or data as JSON. */
  run(services: PanelServices, id: string): unknown
}

/** One table in the inspector, as data. */
export interface InspectorPanel {
  /** The heading of the table. */
  readonly title: string
  /** The headings of its columns, in order. */
  readonly columns: readonly string[]
  /** Returns the current rows, in full or as cells of which the first is the id; rows after `limit` are not shown. */
  rows(services: PanelServices, limit: number): PanelRows | AsyncIterable<ShownRow> | Promise<PanelRows>
  /**
   * Whether the numbers of its last column change by themselves: the page shows them over the last minutes. The end of the row's id names
   * the unit, as in metrics: `_seconds`, `_bytes`; a `_total` or a `_count` only grows, and is shown per second.
   */
  readonly charts?: boolean
  /** The buttons of each row. */
  readonly actions?: readonly PanelAction[]
}

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The panels of this plugin in the inspector; called when they are first opened. For the plugin `inspector`. */
    readonly inspector?: () => Promise<readonly InspectorPanel[]> | readonly InspectorPanel[]
    /**
     * What the plugin reaches outside of the process: systems, with addresses without credentials. For the map of the plugin `inspector`.
     * Default: the Redis or Postgres of its option `store` or `lock`.
     */
    readonly reaches?: (settings: never, services: PanelServices) => readonly string[]
    /** What the plugin runs without a request, such as jobs, by the names of their spans. For the map of the plugin `inspector`. */
    readonly runs?: (services: PanelServices) => readonly string[]
  }
}
