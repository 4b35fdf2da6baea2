import { clock, defineErrors, type Kernel, type Listing, systemClock } from '../../kernel/index.ts'
import type { InspectorPanel, PanelRow } from '../shared/development/panels.ts'
import { answerWithin } from '../shared/stores/availability.ts'
import { Memoized } from '../shared/values/memoize.ts'
import type { OfferedAction } from './activities.ts'
import type { Redactor } from './redact.ts'

export const { InspectorPanelError } = defineErrors({
  InspectorPanelError: (plugin: string, why: string) =>
    `the plugin "${plugin}" brings an inspector panel that cannot be used: ${why}`,
})

/** A panel of one plugin in one scope. */
interface Found {
  readonly key: string
  readonly plugin: string
  readonly panel: InspectorPanel
  /** The error because of which there is no panel to show. */
  readonly failure?: unknown
  readonly services: Listing['plugins'][number]['scope']['services']
}

type History = Map<string, (readonly [at: number, value: number])[]>

interface ShownRow {
  readonly id: string
  readonly cells: readonly unknown[]
}

const maxRows = 200
/** Milliseconds between two samples of the figures of panels, and how many are kept: five minutes. */
const interval = 5_000
const samples = 60
/** Milliseconds that the rows of a panel may take. */
const patience = 5_000

/** The panels of all plugins, gathered when they are first requested. */
export class Panels {
  readonly #redactor: Redactor
  readonly #found: Memoized<readonly Found[]>
  /** The last values of each row of a panel with charts, with their times. */
  #history: History = new Map()
  readonly #timer

  /** `isSeen`: whether a page is open. Otherwise no one needs the figures, some of which a plugin asks a store for. */
  constructor(server: Kernel, redactor: Redactor, isSeen: () => boolean) {
    this.#redactor = redactor
    this.#found = new Memoized(() => gather(server))
    this.#timer = systemClock.setInterval(() => isSeen() && this.#sample().catch(() => {}), interval)
    this.#timer.unref()
  }

  stop(): void {
    systemClock.clear(this.#timer)
  }

  async #sample(): Promise<void> {
    const found = (await this.#found.get()).filter(({ panel, failure }) => panel.charts === true && !failure)
    const history: History = new Map()
    for (const one of found) {
      // One panel that fails does not keep the others from their figures.
      const rows = await this.#rows(one).catch(() => [])
      for (const { id, cells } of rows.slice(0, maxRows)) {
        const value = cells.at(-1)
        const place = `${one.key} ${id}`
        if (!Number.isFinite(value)) continue
        history.set(place, [...(this.#history.get(place) ?? []), [clock.now(), Number(value)] as const].slice(-samples))
      }
    }
    this.#history = history
  }

  async list(): Promise<object[]> {
    return (await this.#found.get()).map(({ key, plugin, panel: { title } }) => ({ key, plugin, title }))
  }

  /** Returns a panel with its rows; `undefined`: there is no such panel. */
  async show(key: string) {
    const found = (await this.#found.get()).find((one) => one.key === key)
    if (found === undefined) return undefined
    const { panel, plugin, failure } = found
    if (failure !== undefined) throw failure
    const { title, columns, charts, actions = [] } = panel
    const rows = await this.#rows(found)
    const isMore = rows.length > maxRows
    const shown = actions.map(({ name, confirm }) => ({ name, confirm }))
    const historyOf = (id: string) => (charts === true ? (this.#history.get(`${key} ${id}`) ?? []) : undefined)
    const last = rows.slice(0, maxRows).map((row) => ({ ...row, history: historyOf(row.id) }))
    return { key, title, plugin, columns, rows: last, isMore, actions: shown, interval }
  }

  #rows(found: Found): Promise<readonly ShownRow[]> {
    const { panel, services } = found
    const read = async () => {
      const list = await panel.rows(services as never, maxRows + 1)
      if (typeof list !== 'object' || list === null || !(Symbol.asyncIterator in list || Symbol.iterator in list))
        throw new TypeError('rows() did not return a list of rows')
      const rows: ShownRow[] = []
      for await (const row of list) if (rows.push(this.#row(found, row)) > maxRows) break
      return rows
    }
    // A store that hangs does not block the page.
    return answerWithin(read(), patience)
  }

  #row({ plugin, panel: { title, columns } }: Found, row: unknown): ShownRow {
    const { id, cells } = (Array.isArray(row) ? { id: String(row[0]), cells: row } : (row ?? {})) as Partial<PanelRow>
    if (typeof id !== 'string' || !Array.isArray(cells))
      throw InspectorPanelError(
        plugin,
        `rows of "${title}" returned a row that is neither { id, cells } nor a list of cells`,
      )
    return { id, cells: cells.slice(0, columns.length).map((cell) => this.#cell(cell)) }
  }

  #cell(cell: unknown): unknown {
    if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? null : { time: cell.getTime() }
    if (typeof cell === 'object' && cell !== null) return { json: this.#redactor.value(cell) }
    return this.#redactor.value(cell) ?? null
  }

  /** Returns the address of an action of a panel by the titles of both; `undefined` if the plugin does not have it: another one may have a panel of this title. */
  async find({ plugin, panel, action }: OfferedAction) {
    const found = (await this.#found.get()).find((one) => one.plugin === plugin && one.panel.title === panel)
    const wanted = found?.panel.actions?.find(({ name }) => name === action)
    return wanted && { key: found!.key, confirm: wanted.confirm }
  }

  /** Runs an action and returns its result as text; `undefined`: there is no such panel or action. */
  async run(key: string, action: string, id: string): Promise<string | undefined> {
    const found = (await this.#found.get()).find((one) => one.key === key)
    const wanted = found?.panel.actions?.find(({ name }) => name === action)
    if (found === undefined || wanted === undefined) return undefined
    const result: unknown = await wanted.run(found.services as never, id)
    if (typeof result === 'string') return this.#redactor.text(result)
    return result === undefined ? 'Done.' : JSON.stringify(this.#redactor.value(result), null, 2)
  }
}

async function gather(server: Kernel): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const { definition, scope } of server.listing.plugins) {
    const { name } = definition
    const add = (panel: InspectorPanel, failure?: unknown) => {
      // Numbered per plugin rather than overall, so that the address of a panel remains when another plugin is added.
      const key = `${name}.${found.filter(({ plugin }) => plugin === name).length}`
      found.push({ key, plugin: name, panel, failure, services: scope.services })
    }
    try {
      const panels: unknown = (await definition.inspector?.()) ?? []
      if (!Array.isArray(panels)) throw InspectorPanelError(name, 'inspector() did not return a list of panels')
      for (const panel of panels as readonly InspectorPanel[]) checkPanel(name, panel)
      for (const panel of panels as readonly InspectorPanel[]) add(panel)
    } catch (error) {
      // Shown instead of the plugin's panels; those of other plugins are not affected.
      add({ title: name, columns: [''], rows: () => [] }, error)
    }
  }
  return found
}

function checkPanel(plugin: string, panel: InspectorPanel): void {
  const { title, columns, rows, charts, actions = [] } = panel ?? {}
  if (typeof title !== 'string' || title === '') throw InspectorPanelError(plugin, 'title must be text')
  if (!Array.isArray(columns) || columns.length === 0 || columns.some((column) => typeof column !== 'string'))
    throw InspectorPanelError(plugin, `columns of "${title}" must be a list of strings`)
  if (typeof rows !== 'function') throw InspectorPanelError(plugin, `rows of "${title}" must be a function`)
  if (typeof (charts ?? true) !== 'boolean')
    throw InspectorPanelError(plugin, `charts of "${title}" must be true or false`)
  const isAction = (one: unknown) => {
    const { name, run } = (one ?? {}) as { name?: unknown; run?: unknown }
    return typeof name === 'string' && typeof run === 'function'
  }
  if (!Array.isArray(actions) || !actions.every(isAction))
    throw InspectorPanelError(plugin, `actions of "${title}" must be a list of { name, run }`)
}
