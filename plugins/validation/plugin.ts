import { definePlugin } from '../../kernel/index.ts'
import type { DescribedRoute } from '../openapi/index.ts'
import { takesBody } from '../shared/body-failures.ts'
import { SchemaError } from './input.ts'
import { parts } from './issues.ts'
import { Validation } from './service.ts'

/**
 * Validates requests by the schemas in the route options `headers`, `params`, `query`, `body` and `all`.
 *
 * Every server has it. A failure is 422 `ValidationError`, a body that no parser took 415; `setValidationErrorHandler`
 * changes the answer. A schema that cannot be compiled fails the boot and names the route.
 *
 * @example
 * import { router } from 'framework'
 *
 * const NewBook = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] } as const
 * router.post('/books', { body: NewBook }, (req) => ({ title: req.body.title.trim() }))
 */
export const validation = definePlugin({
  name: 'validation',
  // A schema is compiled with the route; only its place is known here.
  routeOptions: { headers: asGiven, params: asGiven, query: asGiven, body: asGiven, all: asGiven },
  openapi: { failures },
  provide: () => ({ validation: new Validation() }),
  setup(ctx) {
    const service = ctx.services.get('validation')
    ctx.onRoute((route) => {
      const { options, method, path } = route
      const name = `${method} ${path}`
      const given = parts.filter((part) => options[part] !== undefined)
      if (given.length === 0) return
      if (method === 'GET' || method === 'HEAD') {
        const wrong = given.find((part) => part === 'body' || part === 'all')
        if (wrong !== undefined) {
          throw SchemaError(name, wrong, `a ${method} request has no body; describe its query and its headers`)
        }
      }
      const schemas = Object.fromEntries(given.map((part) => [part, options[part]]))
      route.add('input', service.middleware(name, schemas))
    })
  },
})

function asGiven(schema: unknown): unknown {
  return schema
}

/** For the API description. A body of a type that nobody reads is refused where a schema asks for one. */
function failures(route: DescribedRoute): { readonly [status: string]: string } {
  const { body, query, all } = route.options
  if (parts.every((part) => route.options[part] === undefined)) return {}
  return {
    ...((query ?? all) !== undefined && { 400: 'BadRequest' }),
    ...((body ?? all) !== undefined && takesBody(route) && { 415: 'UnsupportedMediaType' }),
    422: 'ValidationError',
  }
}
