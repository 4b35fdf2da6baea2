import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Negotiator from 'negotiator'
import { type Failure, placeIn, type Request } from '../../../kernel/index.ts'
import { baseStyle, escapeHtml, hashOfStyle, htmlPage, pagePolicy } from '../pages/shell.ts'
import { framesOf } from '../terminal/error-lines.ts'
import { sourceLines } from '../terminal/stack.ts'
import { phraseOf } from './described-error.ts'
import type { FailureFormat } from './formatted-failures.ts'

// Needed only in development, with a browser.
const load = createRequire(import.meta.url)

/**
 * Responds to a browser that encounters a mistake in the application with a page instead of the body. A failure without a body, as in
 * production, has no page: clients must not learn more.
 */
export function withPage(format: FailureFormat): FailureFormat {
  return (failure, req) => {
    const isShown = failure.unhandled && failure.body !== undefined && req !== undefined && prefersPage(req)
    return isShown ? { body: pageOf(failure, req), headers: headersOf() } : format(failure, req)
  }
}

/** Whether the client is a browser that navigates: `fetch` and other programs accept anything, or prefer JSON. */
export function prefersPage(req: Request): boolean {
  const accept = req.raw.header('accept')
  if (accept === undefined || !accept.includes('html')) return false
  const library = load('negotiator') as typeof Negotiator
  const types = new library({ headers: { accept } }).mediaTypes(['application/json', 'text/html'])
  return types[0] === 'text/html'
}

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

function pageOf({ status, code, message, error }: Failure, req: Request): string {
  const title = `${status} ${phraseOf(status)}`
  const route = req.route === undefined ? '' : ` · route ${req.route}`
  const body = `<main>
<p>${escapeHtml(`${title} · ${req.method} ${req.path}${route}`)}</p>
<h1>${escapeHtml(`${code}: ${message}`)}</h1>
${chainOf(error).map(sectionOf).join('\n')}
</main>
<footer>Request ${escapeHtml(req.id)}. This page is shown while developing: with exposeErrorDetails, and never with NODE_ENV=production.</footer>`
  return htmlPage({ title: `${title}: ${message}`, head: `<style>${style}</style>`, body })
}

/** An error and its causes; a chain may contain a cycle. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let one = error; one instanceof Error && chain.length < 5 && !chain.includes(one); one = one.cause)
    chain.push(one)
  return chain
}

function sectionOf(error: Error, index: number): string {
  const { name, message } = error
  const stack = typeof error.stack === 'string' ? error.stack : ''
  const place = placeIn(['', ...framesOf({ name, message, stack })].join('\n'), '/node_modules/')
  const heading = index === 0 ? '' : `<h2>${escapeHtml(`Caused by ${name}: ${message}`)}</h2>\n`
  const frame = place === undefined ? '' : frameOf(place)
  const lines = stack.split('\n').map((line) => `<span>${escapeHtml(line)}</span>`)
  return `${heading}${frame}<h2>Stack</h2>\n<pre class="card" tabindex="0">${lines.join('')}</pre>`
}

/** The number of lines that are shown before and after the failing one. */
const around = 4

function frameOf(place: string): string {
  const [, file = '', at = ''] = /^(.*):(\d+):\d+$/.exec(place) ?? []
  const number = Number(at)
  const lines = sourceLines(file)
  if (lines === undefined || number > lines.length) return ''
  const first = Math.max(1, number - around)
  const shown = lines.slice(first - 1, number + around).map((line, i) => {
    const text = escapeHtml(`${String(first + i).padStart(5)} │ ${line.slice(0, 400)}`)
    return first + i === number ? `<span class="here">${text}</span>` : `<span>${text}</span>`
  })
  return `<h2>${escapeHtml(place)}</h2>\n<pre class="card" tabindex="0">${shown.join('')}</pre>\n`
}
