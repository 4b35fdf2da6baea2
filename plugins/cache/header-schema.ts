import { keysOf } from '../shared/schema/keys.ts'

/** Returns the headers that the route option `headers` names; none if its schema does not reveal them. */
export function headersIn(options: object): readonly string[] {
  const { headers } = options as { readonly headers?: unknown }
  if (typeof headers !== 'object' || headers === null) return []
  return (keysOf(headers) ?? []).map((name) => name.toLowerCase())
}
