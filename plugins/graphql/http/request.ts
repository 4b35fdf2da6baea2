import { parse } from 'secure-json-parse'
import { isObject } from '../../shared/values/json.ts'
import { safely } from '../../shared/values/safely.ts'
import { isRefusal, type Refusal, refuse } from '../execution/refusal.ts'

/** The parameters of a request. */
export interface Asked {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: { readonly [name: string]: unknown } | undefined
}

/** Reads the parsed body of a POST. */
export function askedByBody(body: unknown): Asked | Refusal {
  if (isObject(body)) return askedBy(body)
  if (Array.isArray(body)) return refuse(400, 'Several operations in one request are not supported: send one object.')
  return refuse(400, 'The body is not a JSON object.')
}

/** Reads the query string of a GET, in which `variables` and `extensions` are JSON. */
export function askedByQuery(query: { readonly [name: string]: unknown }): Asked | Refusal {
  const variables = mapOf('variables', query.variables)
  if (isRefusal(variables)) return variables
  const extensions = mapOf('extensions', query.extensions)
  if (isRefusal(extensions)) return extensions
  return askedBy({ query: query.query, operationName: query.operationName || undefined, variables, extensions })
}

function askedBy(given: { readonly [name: string]: unknown }): Asked | Refusal {
  const { query, operationName, variables, extensions } = given
  if (query == null) return refuse(400, 'The parameter query is missing.')
  if (typeof query !== 'string') return refuse(400, 'The parameter query must be a string.')
  if (operationName != null && typeof operationName !== 'string')
    return refuse(400, 'The parameter operationName must be a string.')
  if (variables != null && !isObject(variables)) return refuse(400, 'The parameter variables must be an object.')
  if (extensions != null && !isObject(extensions)) return refuse(400, 'The parameter extensions must be an object.')
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined }
}

/** Parses the JSON of a parameter; keys that would reach a prototype are refused, as in a body. */
function mapOf(name: string, text: unknown): unknown {
  if (text === undefined || text === '') return undefined
  if (typeof text !== 'string') return refuse(400, `The parameter ${name} is given more than once.`)
  const malformed = refuse(400, `The parameter ${name} is not valid JSON.`)
  return safely((): unknown => parse(text, null, { protoAction: 'error', constructorAction: 'error' }), malformed)
}
