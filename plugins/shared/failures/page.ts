import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Negotiator from 'negotiator'
import type { Failure, Kernel, Request } from '../../../kernel/index.ts'
import { MethodNotAllowedError, RouteNotFoundError } from '../../../kernel/support/errors.ts'
import { html, type Markup, plural, scrollingTable, termList } from '../pages/markup.ts'
import { baseStyle, hashOfStyle, htmlPage, pagePolicy } from '../pages/shell.ts'
import { framesOf } from '../terminal/error-lines.ts'
import { editorAddress, type Place, placesOf, placeText, sourceLines } from '../terminal/stack.ts'
import { hideInText, hideMarked } from '../values/marked.ts'
import { redact } from '../values/redact.ts'
import { safely } from '../values/safely.ts'
import { phraseOf, withoutPrefix } from './described-error.ts'
import { exposesMistakes, type FailureFormat } from './formatted-failures.ts'
import { nearestRoutes } from './nearest-routes.ts'

// Needed only in development, with a browser.
const load = createRequire(import.meta.url)

/**
 * Responds to a browser with a page instead of the body, in development: to a mistake in the application, an address without a route, and
 * invalid input. In production nothing has a page: clients must not learn more.
 */
export function withPage(format: FailureFormat): FailureFormat {
  return (failure, req) => {
    const { unhandled, errors, error } = failure
    const isShown = req !== undefined && exposesMistakes() && (unhandled || errors !== undefined || isMiss(error))
    return isShown && prefersPage(req) ? { body: pageOf(failure, req), headers: headersOf() } : format(failure, req)
  }
}

const missing = [RouteNotFoundError.code, MethodNotAllowedError.code]
const isMiss = (error: unknown) => missing.includes((error as Partial<Failure> | undefined)?.code ?? '')

/** In development, the routes that a client may have meant whose address has no route. */
export function nearestTo({ error }: Failure, req: Request | undefined): readonly string[] {
  if (req === undefined || !isMiss(error) || !exposesMistakes()) return []
  return nearestRoutes(req.server.listing, req.method, req.path)
}

/** Whether the client is a browser that navigates: `fetch` and other programs accept anything, or prefer JSON. */
export function prefersPage(req: Request): boolean {
  const accept = req.raw.header('accept')
  if (accept === undefined || !accept.includes('html')) return false
  const library = load('negotiator') as typeof Negotiator
  const types = new library({ headers: { accept } }).mediaTypes(['application/json', 'text/html'])
  return types[0] === 'text/html'
}

const recorders = new WeakMap<Kernel, (req: Request) => string | undefined>()

/** Announces where a tool shows what it has recorded of a request: the page of its failure links to it. */
export const announceRecorder = (server: Kernel, addressOf: (req: Request) => string | undefined): void =>
  void recorders.set(server, addressOf)

const style = baseStyle + readFileSync(new URL('./page.css', import.meta.url), 'utf8')

let headers: Record<string, string> | undefined

function headersOf(): Record<string, string> {
  headers ??= {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // Overrides the policy of helmet: this page has one style, and loads or runs nothing else.
    'content-security-policy': pagePolicy({ 'style-src': hashOfStyle(style) }),
    'x-content-type-options': 'nosniff',
  }
  return headers
}

function pageOf(failure: Failure, req: Request): string {
  const { status, code, error, errors, unhandled } = failure
  const message = hideInText(failure.message)
  const title = `${status} ${phraseOf(status)}`
  const recorded = recorders.get(req.server)?.(req)
  const body = html`<main>
<p>${title} · ${req.method} ${hideInText(req.path)}${req.route !== undefined && ` · route ${req.route}`}</p>
<h1>${code}: ${withoutPrefix(code, message)}</h1>
${unhandled ? chainOf(error).map(sectionOf) : errors === undefined ? routesOf(failure, req) : fieldsOf(errors)}
<h2>Request</h2>
${recorded !== undefined && html`<p><a href="${recorded}">Show it in the inspector</a></p>`}
${requestOf(req)}
</main>
<footer>Request ${req.id}. This page is shown while developing: with exposeErrorDetails, and never with NODE_ENV=production.</footer>`
  return htmlPage({ title: `${title}: ${message}`, head: `<style>${style}</style>`, body: String(body) })
}

function routesOf(failure: Failure, req: Request): Markup {
  const near = nearestTo(failure, req)
  if (near.length > 0)
    return html`<h2>Nearest routes</h2>\n<ul>${near.map((one) => html`<li><code>${one}</code></li>`)}</ul>`
  const { length } = req.server.listing.routes
  return html`<p>The server has ${plural(length, 'route')}, none of them near. <code>framework routes</code> lists them.</p>`
}

function fieldsOf(errors: readonly object[]): Markup {
  const rows = errors.map((row) => {
    const { part, path, message } = row as { readonly [member: string]: unknown }
    return html`<tr><td>${part}</td><td><code>${path}</code></td><td>${message}</td></tr>`
  })
  return scrollingTable('Invalid input', ['Part', 'Member', 'Message'], rows)
}

/** The longest list of values that is shown, in characters. */
const maxShown = 4_000

/** What a request has, without its secrets: a page is easily photographed or copied. */
function requestOf(req: Request): Markup {
  const { params, query, headers, body } = req
  const shown = Object.entries({ params, query, headers, body }).flatMap(([name, value]) => {
    const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0
    const text = isEmpty ? undefined : safely(() => JSON.stringify(hideMarked(redact(value)), undefined, 2))
    return text === undefined ? [] : [[name, html`<pre tabindex="0">${text.slice(0, maxShown)}</pre>`] as const]
  })
  return html`<div class="card">${termList(shown)}</div>`
}

/** An error and its causes; a chain may contain a cycle. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let one = error; one instanceof Error && chain.length < 5 && !chain.includes(one); one = one.cause)
    chain.push(one)
  return chain
}

/** An error with its place in the application; the frames of packages, of the runtime and of the framework are folded. */
function sectionOf(error: Error, index: number): Markup {
  const { name } = error
  const message = hideInText(error.message)
  const stack = typeof error.stack === 'string' ? hideInText(error.stack) : ''
  const frames = framesOf({ name, message, stack })
  const [place, ...callers] = placesOf(frames)
  const all = html`<details><summary>Stack, with ${plural(frames.length, 'frame')}</summary>\n<pre class="card" tabindex="0">${stack
    .split('\n')
    .map((line) => html`<span>${line}</span>`)}</pre></details>`
  return html`${index > 0 && html`<h2>Caused by ${name}: ${message}</h2>\n`}${place && frameOf(place)}${
    callers.length > 0 && html`<p>Called from</p>\n<ul>${callers.map((one) => html`<li>${linkOf(one)}</li>`)}</ul>\n`
  }${all}`
}

const linkOf = (place: Place): Markup =>
  html`<a href="${editorAddress(place)}">${place.name !== undefined && `${place.name} `}${placeText(place)}</a>`

/** The number of lines that are shown before and after the failing one. */
const around = 4

function frameOf(place: Place): Markup {
  const lines = sourceLines(place.file) ?? []
  const first = Math.max(1, place.line - around)
  const shown = lines.slice(first - 1, place.line + around).map((line, i) => {
    const text = `${String(first + i).padStart(5)} │ ${line.slice(0, 400)}`
    return html`<span${first + i === place.line && html` class="here"`}>${text}</span>`
  })
  const code = place.line <= lines.length && html`<pre class="card" tabindex="0">${shown}</pre>\n`
  return html`<h2>${linkOf(place)}</h2>\n${code}`
}
