import type { Context, Kernel, Request, Response, RouteOptions } from '../../../kernel/index.ts'
import { entityTag, isKnown } from '../http/validators.ts'

/** Members named `x-…`, which the formats leave to their users. */
export interface Extensible {
  readonly [extension: `x-${string}`]: unknown
}

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
  #current: () => Known<Document>

  /** `beforeBoot` makes the error for a document that is requested too early. */
  constructor(beforeBoot: () => Error) {
    this.#current = () => {
      throw beforeBoot()
    }
  }

  /** Describes the server of a plugin, and serves both forms of the document: `path` and `json` or `yaml`. @internal */
  serve(ctx: Context, { state, describe }: Describing<Document>, path: string, options: RouteOptions): void {
    const { server, log } = ctx
    let known: Known<Document> | undefined
    const reported = new Set<string>()
    this.#current = () => {
      const current = state(server)
      if (known !== undefined && isSame(known.state, current)) return known
      const { document, notes } = describe(server)
      known = { state: current, document }
      for (const { route, why } of notes) {
        const note = `the description of ${route} is incomplete: ${why}`
        // Each route once: routes that come and go must not fill the log.
        if (reported.has(note) || reported.size > 1_000) continue
        reported.add(note)
        log.warn({ route }, note)
      }
      return known
    }
    ctx.get(`${path}json`, options, (req, res) => sendWritten(req, res, 'json', this.#json()))
    ctx.get(`${path}yaml`, options, async (req, res) => sendWritten(req, res, 'yaml', await this.#yaml()))
  }

  /** The current description of the server; the same object until the server changes, so modify only a copy. */
  document(): Document {
    return this.#current().document
  }

  #json(): Written {
    const known = this.#current()
    known.json ??= written(JSON.stringify(known.document))
    return known.json
  }

  #yaml(): Promise<Written> {
    const known = this.#current()
    known.yaml ??= import('./yaml.ts').then(({ toYaml }) => written(toYaml(known.document)))
    return known.yaml
  }
}

const isSame = (a: State, b: State) => a.length === b.length && a.every((one, at) => one === b[at])

/** Responds with a document, or with 304 to a client that has it. */
export function sendWritten(req: Request, res: Response, type: string, { text, etag }: Written): Response {
  // `no-cache`: clients may keep it, but must revalidate it each time.
  res.header('cache-control', 'no-cache').header('etag', etag)
  if (isKnown(req.headers, { etag })) return res.status(304).send()
  return res.type(type).bytes(Buffer.from(text))
}
