import type { Kernel, Logger } from '../../../kernel/index.ts'
import { entityTag } from '../validators.ts'

/** A text to send, with what distinguishes it from others. */
export interface Written {
  readonly text: string
  readonly etag: string
}

const written = (text: string): Written => ({ text, etag: entityTag(text) })

/** A description, and what it does not say of whatever it describes. */
export interface Described<Document> {
  readonly document: Document
  readonly notes: readonly { readonly route: string; readonly why: string }[]
}

/** What one state of a server is described by: the same parts give the same document. */
export type State = readonly unknown[]

/** How a server is described: from which parts, and by what of them. */
export interface Describing<Document> {
  state(server: Kernel): State
  describe(server: Kernel): Described<Document>
}

/** One state in every form that was asked for. */
interface Known<Document> {
  readonly state: State
  readonly document: Document
  json?: Written
  yaml?: Promise<Written>
}

/** A document about one server, made anew when the server has changed. */
export class DocumentService<Document> {
  readonly #beforeBoot: () => Error
  #server: Kernel | undefined
  #describing: Describing<Document> | undefined
  #log: Logger | undefined
  #known: Known<Document> | undefined
  readonly #told = new Set<string>()

  /** `beforeBoot` makes what is thrown where the document is asked for too early. */
  constructor(beforeBoot: () => Error) {
    this.#beforeBoot = beforeBoot
  }

  /** @internal */
  start(server: Kernel, describing: Describing<Document>, log: Logger): void {
    this.#server = server
    this.#describing = describing
    this.#log = log
  }

  /** The description of the server as it is now; the same object until that changes, so change a copy. */
  document(): Document {
    return this.#current().document
  }

  /** The document as JSON. @internal */
  json(): Written {
    const known = this.#current()
    known.json ??= written(JSON.stringify(known.document))
    return known.json
  }

  /** The document as YAML. @internal */
  yaml(): Promise<Written> {
    const known = this.#current()
    known.yaml ??= import('./yaml.ts').then(({ toYaml }) => written(toYaml(known.document)))
    return known.yaml
  }

  #current(): Known<Document> {
    if (this.#server === undefined || this.#describing === undefined) throw this.#beforeBoot()
    const state = this.#describing.state(this.#server)
    if (this.#known === undefined || !isSame(this.#known.state, state)) {
      const { document, notes } = this.#describing.describe(this.#server)
      this.#known = { state, document }
      for (const { route, why } of notes) this.#tell(route, why)
    }
    return this.#known
  }

  /** Once for each: routes that come and go must not fill the log. */
  #tell(route: string, why: string): void {
    const note = `the description of ${route} is incomplete: ${why}`
    if (this.#told.has(note) || this.#told.size > 1_000) return
    this.#told.add(note)
    this.#log?.warn({ route }, note)
  }
}

const isSame = (a: State, b: State) => a.length === b.length && a.every((one, at) => one === b[at])
