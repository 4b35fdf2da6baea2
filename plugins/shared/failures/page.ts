import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type Negotiator from 'negotiator'
import { type Failure, placeIn, type Request } from '../../../kernel/index.ts'
import { framesOf } from '../terminal/failure.ts'
import { sourceLines } from '../terminal/stack.ts'
import { escapeHtml } from '../values/html.ts'
import { phraseOf } from './described-error.ts'
import type { FailureFormat } from './failures.ts'

// Needed only in development, with a browser.
const load = createRequire(import.meta.url)

/**
 * Answers a browser that encounters a mistake in the application with a page instead of the body. A failure without a body, as in
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

const style = `
:root { color-scheme: light dark; --quiet: #667; --line: #d5d8e0; --mark: #fdecea; --strong: #b3261e; --code: #f6f7fa }
@media (prefers-color-scheme: dark) { :root { --quiet: #9aa; --line: #3a3f4b; --mark: #4a2320; --strong: #ff8a80; --code: #1c1f26 } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 2rem 1rem }
h1 { color: var(--strong); font-size: 1.4rem; overflow-wrap: anywhere; white-space: pre-wrap }
h2 { font-size: 1rem; margin-top: 2rem }
p, footer { color: var(--quiet) }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; font: 14px/1.5 ui-monospace, monospace; margin: 0; overflow-x: auto; padding: .75rem 0 }
pre span { display: block; padding: 0 1rem; white-space: pre }
pre .here { background: var(--mark); font-weight: 600 }
`

let headers: Record<string, string> | undefined

function headersOf(): Record<string, string> {
  const hash = createHash('sha256').update(style).digest('base64')
  headers ??= {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // Overrides the policy of helmet: this page has one style, and loads or runs nothing else.
    'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
  }
  return headers
}

function pageOf({ status, code, message, error }: Failure, req: Request): string {
  const title = `${status} ${phraseOf(status)}`
  const route = req.route === undefined ? '' : ` · route ${req.route}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${title}: ${message}`)}</title>
<style>${style}</style>
</head>
<body>
<p>${escapeHtml(`${title} · ${req.method} ${req.path}${route}`)}</p>
<h1>${escapeHtml(`${code}: ${message}`)}</h1>
${chainOf(error).map(sectionOf).join('\n')}
<footer>Request ${escapeHtml(req.id)}. This page is shown while developing: with exposeErrorDetails, and never with NODE_ENV=production.</footer>
</body>
</html>
`
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
  return `${heading}${frame}<h2>Stack</h2>\n<pre>${lines.join('')}</pre>`
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
  return `<h2>${escapeHtml(place)}</h2>\n<pre>${shown.join('')}</pre>\n`
}
