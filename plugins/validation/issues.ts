import { type Issue, maxIssues } from '../shared/schema/verdict.ts'

/** The parts of a request, in the order in which their mistakes are reported. */
export const parts = ['headers', 'params', 'query', 'body', 'all'] as const
export type Part = (typeof parts)[number]

/** One row of the list in a validation error. */
export interface ValidationIssue extends Issue {
  /** The part of the request that it is in: `body`, `query`, `headers`, `params`, or `all` for the schema of several parts. */
  part: Part
}

/** The maximum size of all rows, in bytes: paths contain keys that a client chose, which must not make a response of 100 kB. */
const maxBytes = 8_192

function short(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`
}

/** Keeps a validator's details about its rule small, whatever the schema contains, such as an `enum` of a thousand values. */
function smallParams(params: Record<string, unknown>): Record<string, unknown> {
  const small: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === 'string') small[name] = short(value, 128)
    else if (typeof value === 'number' || typeof value === 'boolean' || value === null) small[name] = value
    else if (Array.isArray(value)) {
      const plain = value.filter((one) => one === null || ['string', 'number', 'boolean'].includes(typeof one))
      small[name] = plain.slice(0, 20).map((one) => (typeof one === 'string' ? short(one, 64) : one))
    }
  }
  return small
}

/** The rows of all failed parts, cut to the size limit; the first row is always included. */
export function rowsOf(failed: readonly { part: Part; issues: readonly Issue[] }[]): ValidationIssue[] {
  const rows: ValidationIssue[] = []
  let left = maxBytes
  for (const { part, issues } of failed) {
    for (const { path, keyword, message, params } of issues.slice(0, maxIssues)) {
      const row = {
        part,
        path: short(path, 256),
        keyword: short(keyword, 64),
        message: short(message, 256),
        params: smallParams(params),
      }
      left -= Buffer.byteLength(JSON.stringify(row))
      if (left < 0 && rows.length > 0) return rows
      rows.push(row)
    }
  }
  return rows
}
