/**
 * What turns a template and data into text.
 *
 * An error may have the number of the `line` it is about. `kind` says what comes out: of `'html'` values must be escaped, of `'text'` (plain text and subjects) they must not.
 */
export interface TemplateAdapter {
  render(template: string, data: object, kind: 'html' | 'text'): string | Promise<string>
}
