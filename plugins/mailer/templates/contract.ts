/**
 * What turns a template and data into text.
 *
 * An error may have the number of the `line` it is about. `kind` says what comes out: of `'html'` values must be escaped, of `'text'` (plain text and subjects) they must not.
 */
export interface TemplateAdapter {
  /** Puts data into a template. Of `'html'` it escapes values, of `'text'` it does not. */
  render(template: string, data: object, kind: 'html' | 'text'): string | Promise<string>
  /**
   * Renders a subject or plain text where templates are programs: puts values in the place of names, and throws for everything
   * that would run. Without it they are rendered like every template.
   */
  renderNames?(template: string, data: object): string | Promise<string>
}
