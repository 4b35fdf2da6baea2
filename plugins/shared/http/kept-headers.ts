import type { Response } from '../../../kernel/index.ts'

/** The headers of a response that is kept for later requests; `null` for one that was removed. */
export type KeptHeaders = readonly (readonly [name: string, value: string | readonly string[] | null])[]

/** Headers that describe one transmission rather than the response. */
const perMessage = /^(content-length|connection|keep-alive|transfer-encoding|x-cache|age|date)$/

/** What the handler has done to the headers that were set `before` it: those belong to each request, such as those of cors. */
export function keptHeaders(res: Response, before: ReturnType<Response['getHeaders']>): KeptHeaders {
  const headers = res.getHeaders()
  return Object.keys({ ...before, ...headers })
    .filter((name) => !perMessage.test(name) && String(before[name]) !== String(headers[name]))
    .map((name) => [name, headers[name] ?? null])
}

/** Does the same to the headers of another response. */
export function replayHeaders(headers: KeptHeaders, res: Response): void {
  for (const [name, value] of headers) {
    if (value === null) res.removeHeader(name)
    else if (name === 'vary') res.vary(...namesIn(value))
    else res.setHeader(name, value)
  }
}

/** The names in a `Vary` header. */
export const namesIn = (vary: string | readonly string[]): string[] => String(vary).split(/[, ]+/).filter(Boolean)
