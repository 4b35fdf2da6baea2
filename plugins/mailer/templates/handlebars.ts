import { peer } from '../../shared/environment/optional-package.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { Compiled } from './compiled.ts'
import type { TemplateAdapter } from './contract.ts'

/** The used part of the package `handlebars`, for example an instance with helpers and partials. */
export interface HandlebarsEngine {
  /** Compiles a template to a function; `noEscape` leaves values as they are. */
  compile(template: string, options?: { noEscape?: boolean }): (data: unknown, options?: object) => string
}

async function loadEngine(): Promise<HandlebarsEngine> {
  const module = await peer('handlebars', () => import('handlebars'), 'the HandlebarsAdapter')
  return module.default.create()
}

/**
 * Templates of Handlebars; needs the package `handlebars`.
 *
 * `{{name}}` is escaped, `{{{name}}}` is not. Members of prototypes are not visible.
 *
 * @param engine An instance with helpers and partials. Default: a new one.
 * @example
 * const provider = { transporter: memoryTransport(), templateAdapter: new HandlebarsAdapter(), from: 'shop@example.org' } as const
 */
export class HandlebarsAdapter implements TemplateAdapter {
  readonly #compiled = new Compiled<ReturnType<HandlebarsEngine['compile']>>()
  readonly #engine: Memoized<HandlebarsEngine>

  constructor(engine?: HandlebarsEngine) {
    this.#engine = new Memoized(async () => engine ?? loadEngine())
  }

  async render(template: string, data: object, kind: 'html' | 'text'): Promise<string> {
    const engine = await this.#engine.get()
    const run = this.#compiled.of(template, kind, () => engine.compile(template, { noEscape: kind === 'text' }))
    return run(data, { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false })
  }
}
