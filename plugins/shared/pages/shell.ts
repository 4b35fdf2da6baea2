import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The beginning of the style of every page: colours, which follow the system, and what looks the same everywhere. */
export const baseStyle = readFileSync(new URL('./base.css', import.meta.url), 'utf8')

/** The style of a page that is a document: headings, terms and tables in one column. */
export const documentStyle = baseStyle + readFileSync(new URL('./document.css', import.meta.url), 'utf8')

/** For the script of a page: makes an element. Strings become text, never markup, so that data cannot run anything. */
export const elementsScript = readFileSync(new URL('./elements.js', import.meta.url), 'utf8')

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes all markup in a string, for use in an element or a quoted attribute of a page. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)

const template = readFileSync(new URL('./shell.html', import.meta.url), 'utf8')

/** A page as HTML. `title` is text; `head` and `body` are markup. */
export function htmlPage(parts: { title: string; head: string; body: string }): string {
  const values = { ...parts, title: escapeHtml(parts.title) }
  return template.replace(/<!--(title|head|body)-->/g, (_, name: keyof typeof parts) => values[name])
}

/** The head of a page with a style of its own file; without an icon, browsers would ask for one. */
export const linkedStyle = (address: string): string =>
  `<link rel="icon" href="data:,">\n<link rel="stylesheet" href="${address}">`

/** The link for keyboards with which the body of a page begins, if a header is before its `main` with the id `main`. */
export const skipLink = '<a class="skip" href="#main">Skip to the content</a>'

/** The source by which a policy allows this style and no other. */
export const hashOfStyle = (style: string): string => `'sha256-${createHash('sha256').update(style).digest('base64')}'`

/** A content security policy: a page loads and does nothing but what these directives allow. */
export function pagePolicy(directives: { readonly [directive: string]: string }): string {
  const closed = { 'base-uri': "'none'", 'form-action': "'none'", 'frame-ancestors': "'none'" }
  const all = Object.entries({ 'default-src': "'none'", ...directives, ...closed, ...directives })
  return all.map((directive) => directive.join(' ')).join('; ')
}
