import type { Kernel, Logger } from '../../../kernel/index.ts'
import { entityTag } from '../http/validators.ts'

/** A document as a string to send, with the tag that distinguishes it from others. */
export interface Written {
  readonly text: string
  readonly etag: string
}

const written = (text: string): Written => ({ text, etag: entityTag(text) })

/** A description, and notes about parts that are missing in it. */
export interface Described<Document> {
  readonly document: Document
  readonly notes: readonly { readonly route: string; readonly why: string }[]
}

/** The parts that determine the description of a server: the same parts result in the same document. */
export type State = readonly unknown[]

/** How a server is described: from which parts, and by which function. */
export interface Describing<Document> {
  state(server: Kernel): State
  describe(server: Kernel): Described<Document>
}

/** The document for one state, in every form that was requested. */
interface Known<Document> {
  readonly state: State
  readonly document: Document
  json?: Written
  yaml?: Promise<Written>
}

/** A document about one server, rebuilt when the server has changed. */
export class DocumentService<Document> {
  readonly #beforeBoot: () => Error
  #server: Kernel | undefined
  #describing: Describing<Document> | undefined
  #log: Logger | undefined
  #known: Known<Document> | undefined
  readonly #reported = new Set<string>()

  /** `beforeBoot` makes the error for a document that is requested too early. */
  constructor(beforeBoot: () => Error) {
    this.#beforeBoot = beforeBoot
  }

  /** @internal */
  start(server: Kernel, describing: Describing<Document>, log: Logger): void {
    this.#server = server
    this.#describing = describing
    this.#log = log
  }

  /** The current description of the server; the same object until the server changes, so modify only a copy. */
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
      for (const { route, why } of notes) this.#report(route, why)
    }
    return this.#known
  }

  /** Reports each route once: routes that come and go must not fill the log. */
  #report(route: string, why: string): void {
    const note = `the description of ${route} is incomplete: ${why}`
    if (this.#reported.has(note) || this.#reported.size > 1_000) return
    this.#reported.add(note)
    this.#log?.warn({ route }, note)
  }
}

const isSame = (a: State, b: State) => a.length === b.length && a.every((one, at) => one === b[at])
