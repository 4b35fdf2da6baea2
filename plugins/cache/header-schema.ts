import { jsonSchemaKeys } from '../shared/schema/json-schema.ts'
import { isStandardSchema, standardKeys } from '../shared/schema/standard.ts'

/** The headers that the route option `headers` names; none where its schema does not tell. */
export function headersIn(options: object): readonly string[] {
  const { headers } = options as { readonly headers?: unknown }
  if (typeof headers !== 'object' || headers === null) return []
  const names = isStandardSchema(headers) ? standardKeys(headers) : jsonSchemaKeys(headers)
  return (names ?? []).map((name) => name.toLowerCase())
}
