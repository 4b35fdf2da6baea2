import { peer } from '../../shared/environment/optional-package.ts'
import { Memoized } from '../../shared/values/memoize.ts'
import { Compiled } from './compiled.ts'
import type { TemplateAdapter } from './contract.ts'
import { refusal, valueAt } from './names.ts'

/** `<%%`, which means `<%`; a tag, whose `-%>` removes the following line break; or an unclosed one. */
const tags = /<%%|<%([\s\S]*?)(?:-%>(?:\r?\n)?|%>)|<%/g

const asItIs = (value?: unknown) => (value === undefined || value === null ? '' : String(value))

/**
 * Templates of EJS; needs the package `ejs`.
 *
 * `<%= name %>` is escaped, `<%- name %>` is not. Templates are programs: only an author of the application may write
 * one. In the subject and plain text of an email, tags may contain only names, as in `<%= order.number %>`, and no code runs.
 *
 * @example
 * const provider = { transporter: memoryTransport(), templateAdapter: new EjsAdapter(), from: 'shop@example.org' } as const
 */
export class EjsAdapter implements TemplateAdapter {
  readonly #compiled = new Compiled<(data: object) => string>()
  readonly #engine = new Memoized<typeof import('ejs')>(() =>
    peer('ejs', () => import('ejs'), 'the EjsAdapter').then((module) => module.default ?? module),
  )

  async render(template: string, data: object, kind: 'html' | 'text'): Promise<string> {
    const ejs = await this.#engine.get()
    const settings = kind === 'text' ? { cache: false, escape: asItIs } : { cache: false }
    const run = this.#compiled.of(template, kind, () => ejs.compile(template, settings))
    // A copy without a prototype: EJS reads settings, including code, from members of its data.
    return run(Object.assign(Object.create(null), data))
  }

  renderNames(template: string, data: object): string {
    return template.replace(tags, (tag, inside: string | undefined) => {
      if (tag === '<%%') return '<%'
      if (inside?.startsWith('#')) return ''
      if (inside === undefined || !/^[=-]/.test(inside)) throw refusal(tag)
      return valueAt(data, tag, inside.slice(1))
    })
  }
}
