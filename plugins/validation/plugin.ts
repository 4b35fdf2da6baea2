import { definePlugin, type OptionPlace, type OptionRoute } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { takesBody } from '../shared/http/body-parser.ts'
import { option } from '../shared/options/index.ts'
import { isSchema } from '../shared/schema/check.ts'
import { keysOf } from '../shared/schema/keys.ts'
import { Validation } from './service.ts'
import { parts } from './validation-error.ts'

/**
 * Validates requests with the schemas in the route options `headers`, `params`, `query`, `body` and `all`.
 *
 * Every server has it. A failure is 422 `ValidationError`, a body without a parser 415; `setValidationErrorHandler`
 * changes the response. A schema that cannot be compiled fails the boot and names the route.
 *
 * @example
 * import { router } from 'framework'
 *
 * const NewBook = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const
 * router.post('/books', { body: NewBook }, (req) => ({ title: req.body.title.trim() }))
 */
export const validation = definePlugin({
  name: 'validation',
  options: option.shape({}),
  routeOptions: {
    headers: schemaOfRoute,
    params: paramsSchemaOfRoute,
    query: schemaOfRoute,
    body: bodySchemaOfRoute,
    all: bodySchemaOfRoute,
  },
  openapi: { failures },
  provide: () => ({ validation: new Validation() }),
  setup(ctx) {
    const service = ctx.services.get('validation')
    ctx.onRoute((route) => {
      const { settings, method, path } = route
      const schemas = Object.fromEntries(
        parts.filter((part) => settings[part] !== undefined).map((part) => [part, settings[part]]),
      )
      if (Object.keys(schemas).length > 0) route.add('input', service.middleware(`${method} ${path}`, schemas))
    })
  },
})

/** The failures, for the API description. Where the body has a schema, a body whose type has no parser is refused. */
function failures(route: DescribedRoute): { readonly [status: string]: string } {
  const { body, query, all } = route.options
  if (parts.every((part) => route.options[part] === undefined)) return {}
  return {
    ...((query ?? all) !== undefined && { 400: 'BadRequest' }),
    ...((body ?? all) !== undefined && takesBody(route) && { 415: 'UnsupportedMediaType' }),
    422: 'ValidationError',
  }
}

/** Reads a schema, which is compiled with the route. */
function schemaOfRoute(given: unknown, place: OptionPlace): object | undefined {
  if (isSchema(given)) return given
  return void place.wrong(given, 'a JSON Schema, or a TypeBox, Zod or other Standard Schema')
}

/** The same for parameters: with one that the path does not have, the schema would refuse every request. */
function paramsSchemaOfRoute(given: unknown, place: OptionPlace, { path }: OptionRoute<unknown>) {
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
function bodySchemaOfRoute(given: unknown, place: OptionPlace, { method }: OptionRoute<unknown>) {
  if (method !== 'GET' && method !== 'HEAD') return schemaOfRoute(given, place)
  const why = `a ${method} request has no body; describe its query and its headers`
  return void place.problem(`the option "${place.path}" cannot be used: ${why}`)
}
