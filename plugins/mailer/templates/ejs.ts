import { peer } from '../../../kernel/index.ts'
import { Compiled } from './compiled.ts'
import type { TemplateAdapter } from './contract.ts'

type Ejs = typeof import('ejs')

const asItIs = (value?: unknown) => (value === undefined || value === null ? '' : String(value))

/**
 * Templates of EJS; needs the package `ejs`.
 *
 * `<%= name %>` is escaped, `<%- name %>` is not. Its templates are programs: only an author of the application may write
 * one, a subject or a text that has such tags included.
 *
 * @example
 * const provider = { transporter: memoryTransport(), templateAdapter: new EjsAdapter(), from: 'shop@example.org' } as const
 */
export class EjsAdapter implements TemplateAdapter {
  readonly #compiled = new Compiled<(data: object) => string>()
  #engine: Promise<Ejs> | undefined

  async render(template: string, data: object, kind: 'html' | 'text'): Promise<string> {
    this.#engine ??= peer('ejs', () => import('ejs'), 'the EjsAdapter').then((module) => module.default ?? module)
    const ejs = await this.#engine
    const settings = kind === 'text' ? { cache: false, escape: asItIs } : { cache: false }
    const run = await this.#compiled.get(template, kind, () => ejs.compile(template, settings))
    // A copy with nothing else: EJS takes settings, code included, from members of its data.
    return run(Object.assign(Object.create(null), data))
  }
}
