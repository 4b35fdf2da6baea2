import type { OptionPlace, OptionRoute } from '../../kernel/index.ts'
import { isSchema } from '../shared/schema/check.ts'
import { keysOf } from '../shared/schema/keys.ts'

/** Reads a schema, which is compiled with the route. */
export function schemaOfRoute(given: unknown, place: OptionPlace): object | undefined {
  if (isSchema(given)) return given
  return void place.wrong(given, 'a JSON Schema, or a TypeBox, Zod or other Standard Schema')
}

/** The same for parameters: with one that the path does not have, the schema would refuse every request. */
export function paramsSchemaOfRoute(given: unknown, place: OptionPlace, { path }: OptionRoute<unknown>) {
  const schema = schemaOfRoute(given, place)
  if (schema === undefined) return undefined
  const names: readonly string[] = path.match(/(?<=\/:)[\w$]+|(?<=\/)\*/g) ?? []
  for (const key of keysOf(schema) ?? []) {
    if (names.includes(key)) continue
    const there = names.length === 0 ? 'The path has no parameters' : `Its parameters are ${names.join(', ')}`
    place.problem(`the option "${place.path}" names "${key}", which is not a parameter of ${path}. ${there}`)
  }
  return schema
}

/** The same for the schema of a body. */
export function bodySchemaOfRoute(given: unknown, place: OptionPlace, { method }: OptionRoute<unknown>) {
  if (method !== 'GET' && method !== 'HEAD') return schemaOfRoute(given, place)
  const why = `a ${method} request has no body; describe its query and its headers`
  return void place.problem(`the option "${place.path}" cannot be used: ${why}`)
}
