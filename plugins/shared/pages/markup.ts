import { escapeHtml } from './shell.ts'

/** Markup for a page, made by `html`. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

const textOf = (value: unknown): string => {
  if (value instanceof Markup) return value.text
  if (Array.isArray(value)) return value.map(textOf).join('')
  return value === undefined || value === false ? '' : escapeHtml(String(value))
}

/** Markup in which every value is escaped, unless it is markup itself; lists are joined, and `undefined` and `false` are nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly unknown[]): Markup =>
  new Markup(String.raw({ raw: parts }, ...values.map(textOf)))

export const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

// A page shows hundreds of times, and creating a format takes as long as formatting thirty of them.
const formats = new Map<string, Intl.DateTimeFormat>()
const styles = { dateStyle: 'medium', timeStyle: 'medium' } as const

/** The zone of the process. */
export const processZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** A time in a zone, a name from the IANA database; `unknown` if it is not a time, for what others have written. */
export function timeTag(time: Date | number, timeZone: string): Markup {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return html`unknown`
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { ...styles, timeZone })
  formats.set(timeZone, format)
  return html`<time datetime="${date.toISOString()}">${format.format(date)}</time>`
}

/** A length of time in words, as precise as a person needs it. */
export function inWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`
}

/** A table that scrolls sideways by itself, also with a keyboard. */
export const scrollingTable = (label: string, heads: readonly unknown[], rows: readonly Markup[]): Markup =>
  html`<div class="wide" role="region" tabindex="0" aria-label="${label}"><table><thead><tr>${heads.map(
    (head) => html`<th scope="col">${head}</th>`,
  )}</tr></thead><tbody>${rows}</tbody></table></div>`

/** Pairs of a term and what it means. */
export const termList = (pairs: readonly (readonly [term: string, text: unknown])[]): Markup =>
  html`<dl>${pairs.map(([term, text]) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)}</dl>`

/** Whether a page reloads itself: the seconds that its address asks for, within reason. */
export function refreshOf(asked: unknown): number | undefined {
  const seconds = Number(asked)
  return seconds >= 5 && seconds <= 3600 ? Math.round(seconds) : undefined
}

/** What makes a page reload, for its head, and the link that changes this. `query` is the rest of its address. */
export function refreshing(
  seconds: number | undefined,
  query = '',
): { readonly head: Markup; readonly toggle: Markup } {
  const address = (refresh: number) => `?${query}${query && '&'}refresh=${refresh}`
  if (seconds === undefined)
    return { head: html``, toggle: html`<a href="${address(10)}">Refresh every 10 seconds</a>` }
  return {
    head: html`<meta http-equiv="refresh" content="${`${seconds};url=${address(seconds)}`}">`,
    toggle: html`Refreshes every ${seconds} seconds. <a href="?${query}">Stop refreshing</a>`,
  }
}
