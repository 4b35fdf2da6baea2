import { keysOf } from '../toolkit/schema/keys.ts'

/** The headers that the route option `headers` names; none where its schema does not show them. */
export function headersIn(options: object): readonly string[] {
  const { headers } = options as { readonly headers?: unknown }
  if (typeof headers !== 'object' || headers === null) return []
  return (keysOf(headers) ?? []).map((name) => name.toLowerCase())
}
