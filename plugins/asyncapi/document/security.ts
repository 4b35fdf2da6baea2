import type { SecurityRequirement } from '../../shared/descriptions/security.ts'
import { isObject, type Json, put, toPlain } from '../../shared/values/json.ts'
import type { AsyncApiOperation } from '../types.ts'

/**
 * Returns the security requirements of an operation. AsyncAPI has a list of schemes, one of which is enough: combinations of several
 * schemes, and the roles that a caller needs, are added in the form of OpenAPI.
 */
export function securityOf(asked: readonly SecurityRequirement[]): Pick<AsyncApiOperation, 'security' | 'x-security'> {
  const isOpen = asked.length === 0 || asked.some((one) => Object.keys(one).length === 0)
  if (isOpen) return {}
  const names = [...new Set(asked.flatMap((one) => Object.keys(one)))]
  const isWhole = asked.every(
    (one) => Object.keys(one).length === 1 && Object.values(one).every((list) => list.length === 0),
  )
  return {
    security: names.map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
    ...(!isWhole && { 'x-security': toPlain(asked) as SecurityRequirement[] }),
  }
}

/** Converts security schemes to AsyncAPI, which has other names for some of the schemes of OpenAPI. */
export function schemesOf(given: Json): Json {
  const schemes: Json = {}
  for (const [name, scheme] of Object.entries(given))
    if (isObject(scheme)) put(schemes, name, schemeOf(toPlain(scheme) as Json))
  return schemes
}

function schemeOf(scheme: Json): Json {
  const { type } = scheme
  if (type === 'apiKey' && scheme.name !== undefined) return { ...scheme, type: 'httpApiKey' }
  if (type === 'mutualTLS') return { ...scheme, type: 'X509' }
  if (type !== 'oauth2' || !isObject(scheme.flows)) return scheme
  const flows = Object.entries(scheme.flows).map(([name, flow]) => {
    const { scopes, ...rest } = isObject(flow) ? flow : {}
    return [name, scopes === undefined ? rest : { ...rest, availableScopes: scopes }]
  })
  return { ...scheme, flows: Object.fromEntries(flows) }
}
