import type { OpenApiOperation, OpenApiParameter, OpenApiReference } from '../../plugins/openapi/index.ts'
import { pointed } from '../../plugins/shared/schema/names.ts'
import { memberAt } from '../../plugins/shared/values/json.ts'

/** A JSON Schema in the form of OpenAPI 3.1. */
export type Schema =
  | boolean
  | {
      readonly $ref?: string
      readonly type?: string | readonly string[]
      readonly format?: string
      /** OpenAPI 3.0 has this in place of the type `null`. */
      readonly nullable?: boolean
      readonly const?: unknown
      readonly enum?: readonly unknown[]
      readonly default?: unknown
      readonly properties?: { readonly [name: string]: Schema }
      readonly required?: readonly string[]
      readonly additionalProperties?: Schema
      readonly patternProperties?: { readonly [pattern: string]: Schema }
      readonly items?: Schema
      readonly prefixItems?: readonly Schema[]
      readonly minItems?: number
      readonly allOf?: readonly Schema[]
      readonly anyOf?: readonly Schema[]
      readonly oneOf?: readonly Schema[]
      readonly description?: string
      readonly deprecated?: boolean
    }

export interface Parameter extends Omit<OpenApiParameter, 'in' | 'schema'> {
  readonly in: string
  readonly schema?: Schema
}

/** Schemas by media type. */
export interface Content {
  readonly [mediaType: string]: { readonly schema?: Schema }
}

export interface Operation extends Pick<OpenApiOperation, 'summary' | 'description' | 'deprecated'> {
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content } | Reference
  readonly responses?: { readonly [status: string]: { readonly content?: Content } | Reference }
}

export type Reference = OpenApiReference

/** The part of an OpenAPI document that the generator reads; other members are ignored. */
export interface ApiDocument {
  readonly info?: { readonly title?: string; readonly version?: string }
  readonly paths?: { readonly [path: string]: PathItem }
  readonly components?: { readonly [kind: string]: { readonly [name: string]: unknown } | undefined }
}

/** Operations by method, and what they have in common. */
export interface PathItem {
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly [method: string]: unknown
}

/** The members of an object by name, in the same order on every machine: the same document must result in the same bytes. */
export function sorted<Value>(object: { readonly [name: string]: Value } | undefined): [string, Value][] {
  return Object.entries(object ?? {}).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

/**
 * The target of a local reference; `undefined` if it cannot be resolved. Only own members count: a reference to
 * `#/components/schemas/constructor` must not find what every object inherits.
 */
export const resolve = (document: ApiDocument, reference: string): unknown =>
  reference.startsWith('#/') ? memberAt(document, reference.slice(2).split('/').map(pointed)) : undefined

/** The same, but returning values that are not references unchanged; a chain of references is followed to its end. */
export function follow<Value>(document: ApiDocument, value: Value | Reference | undefined): Value | undefined {
  let found: unknown = value
  for (let steps = 0; steps < 16; steps++) {
    if (typeof found !== 'object' || found === null || typeof (found as Reference).$ref !== 'string') break
    found = resolve(document, (found as Reference).$ref)
  }
  return found as Value | undefined
}
