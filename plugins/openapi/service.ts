import { defineError, type Kernel, type Listing, type Logger } from '../../kernel/index.ts'
import { type DescribedFormat, describedFormat } from '../toolkit/failures/failures.ts'
import { entityTag } from '../toolkit/validators.ts'
import type { Description } from './document/describe.ts'
import type { DescriptionSettings } from './options.ts'
import type { OpenApiDocument } from './types.ts'

const OpenApiBeforeBootError = defineError(
  'OpenApiBeforeBootError',
  500,
  () =>
    'the description of a server is asked for before boot. Call await server.ready() first, or describeServer(server) of framework/plugins/openapi',
)

type Describe = (listing: Listing, options: DescriptionSettings, format: DescribedFormat | undefined) => Description

/** A text to send, with what tells it from others. */
export interface Written {
  readonly text: string
  readonly etag: string
}

/** One state of the routes in every form that was asked for. */
interface Known {
  readonly listing: Listing
  readonly document: OpenApiDocument
  json?: Written
  yaml?: Promise<Written>
}

/** Describes one server: the service `openapi`. */
export class ApiDescription {
  readonly #options: DescriptionSettings
  #server: Kernel | undefined
  #describe: Describe | undefined
  #log: Logger | undefined
  #known: Known | undefined
  readonly #told = new Set<string>()

  constructor(options: DescriptionSettings) {
    this.#options = options
  }

  /** @internal */
  start(server: Kernel, describe: Describe, log: Logger): void {
    this.#server = server
    this.#describe = describe
    this.#log = log
  }

  /**
   * The description of the routes as they are now; the same object until they change, so change a copy.
   *
   * @throws OpenApiBeforeBootError before `setup`.
   * @example
   * import { writeFileSync } from 'node:fs'
   * import { Server } from 'framework'
   *
   * const server = new Server({ plugins: { openapi: true } })
   * await server.ready()
   * writeFileSync('openapi.json', JSON.stringify(server.services.get('openapi').document(), null, 2))
   */
  document(): OpenApiDocument {
    return this.#current().document
  }

  /** The document as JSON. @internal */
  json(): Written {
    const known = this.#current()
    known.json ??= this.#written(JSON.stringify(known.document))
    return known.json
  }

  /** The document as YAML. @internal */
  yaml(): Promise<Written> {
    const known = this.#current()
    known.yaml ??= import('./document/yaml.ts').then(({ toYaml }) => this.#written(toYaml(known.document)))
    return known.yaml
  }

  #written(text: string): Written {
    return { text, etag: entityTag(text) }
  }

  #current(): Known {
    if (this.#server === undefined || this.#describe === undefined) throw OpenApiBeforeBootError()
    const { listing } = this.#server
    if (this.#known?.listing !== listing) {
      const { document, notes } = this.#describe(
        listing,
        this.#options,
        describedFormat(this.#server.settings.errorFormat),
      )
      this.#known = { listing, document }
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
