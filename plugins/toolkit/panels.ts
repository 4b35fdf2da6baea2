import type { ServiceStore, Services } from '../../kernel/index.ts'

/** The services of the scope in which the plugin of a panel is registered. */
export type PanelServices = ServiceStore & Partial<Services>

/** What one cell shows. A date is shown as a time, an object as JSON with its secrets redacted. */
export type PanelCell = string | number | boolean | Date | object | null | undefined

/** One row of a panel. */
export interface PanelRow {
  /** What its actions are called with; unique within the panel. */
  readonly id: string
  /** The values, one for each column. */
  readonly cells: readonly PanelCell[]
}

/** Something that can be done with a row. */
export interface PanelAction {
  /** What its button says. */
  readonly name: string
  /** What is asked before it runs; without it nothing is. */
  readonly confirm?: string
  /** Does it, for the row with this id. What it returns is shown: text, or data as JSON. */
  run(services: PanelServices, id: string): unknown
}

/** One table in the inspector, as data. */
export interface InspectorPanel {
  /** The heading of the table. */
  readonly title: string
  /** The headings of its columns, in order. */
  readonly columns: readonly string[]
  /** The rows as they are now, at most `limit`; further ones are not shown. */
  rows(
    services: PanelServices,
    limit: number,
  ): readonly PanelRow[] | AsyncIterable<PanelRow> | Promise<readonly PanelRow[]>
  /** The buttons of each row. */
  readonly actions?: readonly PanelAction[]
}

declare module '../../kernel/plugin/define.ts' {
  interface PluginData {
    /** What the inspector shows of this plugin; called when someone first looks. For the plugin `inspector`. */
    readonly inspector?: () => Promise<readonly InspectorPanel[]> | readonly InspectorPanel[]
  }
}
