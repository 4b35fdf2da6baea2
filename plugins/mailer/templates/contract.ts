import { OptionError } from '../../../kernel/index.ts'

/**
 * Renders templates with data.
 *
 * An error may carry the number of the `line` it is about. `kind` is the kind of the result: for `'html'`, values must be escaped; for
 * `'text'` (plain text and subjects), they must not be.
 */
export interface TemplateAdapter {
  /** Puts data into a template. Escapes values for `'html'`, but not for `'text'`. */
  render(template: string, data: object, kind: 'html' | 'text'): string | Promise<string>
  /**
   * Renders a subject or plain text if templates are programs: replaces names with values, and throws for any part that would
   * run. Without this method they are rendered like every other template.
   */
  renderNames?(template: string, data: object): string | Promise<string>
}

/**
 * Uses any function as the template engine; it may be async.
 *
 * @example
 * const adapter = new CustomAdapter((template, data) =>
 *   template.replaceAll(/\$(\w+)/g, (_all, name: string) => String((data as Record<string, unknown>)[name])),
 * )
 */
export class CustomAdapter implements TemplateAdapter {
  readonly render: TemplateAdapter['render']

  constructor(render: TemplateAdapter['render']) {
    if (typeof render !== 'function')
      throw OptionError('CustomAdapter', render, 'a function (template, data, kind) => text')
    this.render = render
  }
}
