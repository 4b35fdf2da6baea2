import { definePlugin } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { takesBody } from '../shared/http/body-parser.ts'
import { option } from '../shared/options/index.ts'
import { bodySchemaOfRoute, paramsSchemaOfRoute, schemaOfRoute } from './options.ts'
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
  access: false,
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
      if (parts.some((part) => settings[part] !== undefined))
        route.add('input', service.middleware(`${method} ${path}`, settings))
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
