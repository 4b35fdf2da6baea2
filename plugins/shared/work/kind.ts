import { type Context, checkOptions, defineErrors, type PluginDefinition, type Request } from '../../../kernel/index.ts'

export const { WorkKindError } = defineErrors({
  WorkKindError: (channel: unknown, why: string) => `work on the channel ${JSON.stringify(channel)} ${why}`,
})

/** A plugin that follows work. */
export type WorkFollower = 'telemetry' | 'inspector' | 'metrics'

/** Attributes of a span; members that are `undefined` are left out. */
export type WorkAttributes = { readonly [name: string]: string | number | boolean | undefined }

/** A list of the inspector. */
export interface WorkList {
  /** A word for its address, such as `render`. */
  readonly id: string
  /** Its heading. */
  readonly title: string
}

/** An action of a panel of the inspector, for one row. */
export interface PanelRowAction {
  /** The title of the panel. */
  readonly panel: string
  /** The name of the action. */
  readonly action: string
  /** The id of the row. */
  readonly id: string
}

/** The duration of some work in OpenTelemetry. */
export interface WorkDuration {
  /** The name of the metric. */
  readonly name: string
  /** Attributes that every value has. */
  readonly attributes: WorkAttributes
}

/** A label of the metrics of some work, which its spans have as an attribute. Clients must not be able to choose its values. */
export interface WorkLabel<in Event> {
  /** The name of the attribute in OpenTelemetry. */
  readonly attribute: string
  /** Returns the value for an event. */
  readonly of: (event: Event) => string
}

/** A further metric of some work, with the labels of the work. */
export interface WorkMeasure<in Event> {
  /** The name, in snake case, with the unit at its end; for a counter without `_total`, which is added. */
  readonly name: string
  /** The type: a `counter` adds the values, a `gauge` has the last value, a `histogram` counts them into buckets. */
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Its meaning, in a sentence. */
  readonly help: string
  /** The last word of the name, if it is a unit: `seconds` or `bytes`. */
  readonly unit?: string
  /** When the value is read. Default `'end'`. */
  readonly at?: 'start' | 'end'
  /** Returns the value for an event; `undefined` for none. */
  readonly of: (event: Event) => number | undefined
}

/**
 * One kind of work that a plugin does and reports with a `Trace` or a `TracePoint`, as data. From it, the plugin `telemetry` makes spans, the
 * `inspector` rows, and `metrics` durations and failures.
 */
export interface WorkKind<in Event extends object = never> {
  /** The name that the `Trace` or the `TracePoint` was made with. */
  readonly channel: string
  /**
   * `work`, the default, has a duration and an outcome. A `part` belongs to the work around it, such as one resolver of a query. A `moment`
   * has no duration; it is reported with a `TracePoint`.
   */
  readonly form?: 'work' | 'part' | 'moment'
  /** Whether it sends a message, handles one, or calls another program. Default: none of these. */
  readonly role?: 'publish' | 'process' | 'call'
  /** The plugins that follow it. Default: `telemetry`, `inspector` and `metrics`. */
  readonly for?: readonly WorkFollower[]
  /** The list of the inspector that shows it; several kinds may share one. Not for parts. */
  readonly list?: WorkList
  /** Its meaning, in a few words, for the texts of its metrics. Not for parts. */
  readonly help?: string
  /** Returns the name of the span. It is the name of a group: clients must not be able to choose it. */
  readonly span: (event: Event) => string
  /** Returns the title of its row. Default: that of the request that a moment belongs to, otherwise the name of the span. */
  readonly title?: (event: Event) => string
  /** Returns one further line of its row. */
  readonly note?: (event: Event) => string
  /** How often the same title within one piece of work is worth a remark in its row, such as a query for each row of another one. */
  readonly repeats?: number
  /** Returns the details that its page in the inspector shows. Known secrets in it are redacted. */
  readonly data?: (event: Event) => { readonly [name: string]: unknown }
  /** Returns the action of a panel of the same plugin that the page of its row offers if it has failed, such as sending a job again. */
  readonly again?: (event: Event) => PanelRowAction
  /** `email`: the `html` and `text` of its `data` are shown as they look. */
  readonly view?: 'email'
  /** The labels of its metrics, by name. */
  readonly labels?: { readonly [name: string]: WorkLabel<Event> }
  /** Returns further attributes of its span. */
  readonly attributes?: (event: Event) => WorkAttributes
  /** Returns attributes that are known when the work is done. */
  readonly ended?: (event: Event) => WorkAttributes
  /** Whether it begins a trace of its own, whatever work is running. */
  readonly isRoot?: boolean
  /** The request that a moment belongs to. */
  readonly request?: (event: Event) => Request | undefined
  /**
   * The connection through which it came. A moment opens it; work with a trace of its own is linked to the work in which that happened, such
   * as a request.
   */
  readonly connection?: (event: Event) => object
  /** The trace of all that is done for a connection which a moment opens; `connection` reads its events too. */
  readonly handlers?: string
  /** Whether a moment is worth a row and an event of its span, and not only a count. Default: each is. */
  readonly isNotable?: (event: Event) => boolean
  /** Further metrics. */
  readonly measures?: readonly WorkMeasure<Event>[]
  /** The name of its metrics; in OpenMetrics its dots become underscores. Default: the channel. */
  readonly metric?: string
  /** The name and the attributes of its duration in OpenTelemetry. Default: `framework.<metric>.duration`. */
  readonly duration?: WorkDuration
}

declare module '../../../kernel/plugin/define.ts' {
  interface PluginData {
    /** The work of this plugin. For the plugins `telemetry`, `inspector` and `metrics`. */
    readonly work?: readonly WorkKind[]
  }
}

const members: readonly (keyof WorkKind)[] = [
  ...(['channel', 'form', 'role', 'for', 'list', 'help', 'span', 'title', 'note', 'repeats', 'data', 'view'] as const),
  ...(['labels', 'attributes', 'ended', 'isRoot', 'connection', 'request', 'isNotable', 'measures'] as const),
  ...(['handlers', 'metric', 'duration', 'again'] as const),
]

/**
 * Describes one kind of work, for the member `work` of a plugin's definition. `Event` is the type of the events of its `Trace`.
 *
 * @throws WorkKindError for a description without a channel, a span or, unless it is a part, a list and a help text.
 * @example
 * const rendering = workKind<{ template: string }>({
 *   channel: 'render',
 *   list: { id: 'render', title: 'Renderings' },
 *   help: 'Templates that were rendered',
 *   span: ({ template }) => `render ${template}`,
 *   labels: { template: { attribute: 'app.template', of: ({ template }) => template } },
 * })
 * const views = definePlugin({ name: 'views', work: [rendering] })
 */
export const workKind = <Event extends object>(kind: WorkKind<Event>): WorkKind => checked(kind as WorkKind, '')

function checked(kind: WorkKind, of: string): WorkKind {
  const { channel, form = 'work', list, help, span, labels = {}, measures = [] } = kind ?? {}
  const refuse = (why: string) => {
    throw WorkKindError(channel, `${of}${why}`)
  }
  checkOptions(`workKind(${JSON.stringify(channel)})`, kind ?? {}, members)
  if (typeof channel !== 'string' || !/^[\w.-]+$/.test(channel)) refuse('needs a channel such as "audit.export"')
  if (!['work', 'part', 'moment'].includes(form)) refuse('has an unknown form: it is "work", "part" or "moment"')
  if (typeof span !== 'function') refuse('needs a function "span", which returns the name of its span')
  if (form !== 'part' && (typeof list?.id !== 'string' || typeof list.title !== 'string'))
    refuse('needs a "list" with an id and a title')
  if (form !== 'part' && typeof help !== 'string') refuse('needs a "help" text for its metrics')
  for (const [name, { attribute, of }] of Object.entries(labels))
    if (typeof attribute !== 'string' || typeof of !== 'function')
      refuse(`needs "attribute" and "of" in labels.${name}`)
  if (measures.some(({ name, of }) => typeof name !== 'string' || typeof of !== 'function'))
    refuse('needs "name" and "of" in each of its measures')
  return kind
}

/** Kinds of work by channel, each with the plugin that does it. */
type Known = Map<string, { readonly kind: WorkKind; readonly plugin: string }>

/** The work of the framework's own plugins, which programs also do without registering them: a mailer, a disk, a queue in memory. */
const known: Known = new Map()

export const knowWork = (definition: Definition): void => addWork(known, definition)

type Definition = Pick<PluginDefinition<never, object>, 'name' | 'work'>

function addWork(all: Known, { name: plugin, work = [] }: Definition): void {
  if (!Array.isArray(work))
    throw WorkKindError(undefined, `of the plugin "${plugin}" is not a list: work: [workKind({ … })]`)
  for (const given of work as readonly WorkKind[]) {
    const kind = checked(given, `of the plugin "${plugin}" `)
    const before = all.get(kind.channel)
    if (before === undefined) all.set(kind.channel, { kind, plugin })
    // Another copy of the package describes the same work; a plugin may be registered in several scopes.
    else if (before.plugin !== plugin)
      throw WorkKindError(
        kind.channel,
        `is described by the plugins "${before.plugin}" and "${plugin}". Give it a channel of its own`,
      )
  }
}

/** Calls `follow` once for each kind of work of a server, now and, for plugins that are registered during the boot, when it is ready. */
export function eachWorkOf(ctx: Context, by: WorkFollower, follow: (kind: WorkKind, plugin: string) => void): void {
  const followed = new Set<string>()
  const look = () => {
    // All work that a server and the services of its process may do, as far as its plugins are registered by now.
    const all: Known = new Map(known)
    for (const { definition } of ctx.server.listing.plugins) addWork(all, definition)
    for (const { kind, plugin } of all.values()) {
      if (followed.has(kind.channel) || kind.for?.includes(by) === false) continue
      followed.add(kind.channel)
      follow(kind, plugin)
    }
  }
  look()
  ctx.onReady(look)
}

/** The names of systems for which the semantic conventions of OpenTelemetry use a different name. */
const systems: { readonly [kind: string]: string } = { sqs: 'aws_sqs' }

/** The value of a label as an attribute in OpenTelemetry. */
export const attributeValue = (attribute: string, value: string): string =>
  attribute === 'messaging.system' ? (systems[value] ?? value) : value

/** The attributes of the labels of an event. */
export function labelAttributes({ labels = {} }: WorkKind, event: object): WorkAttributes {
  const attributes: Record<string, string> = {}
  for (const name in labels) {
    const { attribute, of } = labels[name]!
    attributes[attribute] = attributeValue(attribute, of(event as never))
  }
  return attributes
}
