/**
 * Renders a template with data to text.
 *
 * An error may have the number of the `line` it is about. `kind` is the kind of the result: for `'html'` values must be escaped, for
 * `'text'` (plain text and subjects) they must not.
 */
export interface TemplateAdapter {
  /** Puts data into a template. Of `'html'` it escapes values, of `'text'` it does not. */
  render(template: string, data: object, kind: 'html' | 'text'): string | Promise<string>
  /**
   * Renders a subject or plain text where templates are programs: replaces names by values, and throws for any part that would
   * run. Without it they are rendered like every template.
   */
  renderNames?(template: string, data: object): string | Promise<string>
}
