import { OptionError } from '../../../kernel/index.ts'
import type { TemplateAdapter } from './contract.ts'

/**
 * Uses any function as the template engine; it may be async.
 *
 * @example
 * const adapter = new CustomAdapter((template, data) =>
 *   template.replaceAll(/\$(\w+)/g, (_all, name: string) => String((data as Record<string, unknown>)[name])),
 * )
 */
export class CustomAdapter implements TemplateAdapter {
  readonly #render: TemplateAdapter['render']

  constructor(render: TemplateAdapter['render']) {
    if (typeof render !== 'function')
      throw OptionError('CustomAdapter', render, 'a function (template, data, kind) => text')
    this.#render = render
  }

  render(template: string, data: object, kind: 'html' | 'text'): string | Promise<string> {
    return this.#render(template, data, kind)
  }
}
