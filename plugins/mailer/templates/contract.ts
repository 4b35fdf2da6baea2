/**
 * What turns a template and data into text.
 *
 * `kind` says what comes out: of `'html'` values must be escaped, of `'text'` (plain text and subjects) they must not.
 */
export interface TemplateAdapter {
  render(template: string, data: object, kind: 'html' | 'text'): string | Promise<string>
}
