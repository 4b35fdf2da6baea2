import { definePlugin } from '../../kernel/index.ts'
import { type ResponsesOptions, strictnessOf } from './options.ts'
import { ResponseSchemaError } from './serialize.ts'
import { Responses } from './service.ts'

/**
 * Shapes answers by the schemas in the route option `responses`: what a schema does not name never leaves.
 *
 * Every server has it. An answer that is not what its schema says is an error like any other: the error handler, else
 * 500 without a body, and a line in the log that names route and status.
 *
 * @example
 * import { router } from 'framework'
 *
 * const User = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } }, required: ['id'] } as const
 * router.get('/users/:id', { responses: { 200: User } }, (req, res) => res.ok({ id: 1, name: 'ada' }))
 */
export const responses = definePlugin({
  name: 'responses',
  routeOptions: { responses: (given: unknown) => given },
  provide: (options: ResponsesOptions = {}) => ({ responses: new Responses(strictnessOf(options)) }),
  setup(ctx) {
    const service = ctx.services.get('responses')
    service.claimWith((schema, route, part) => ctx.services.find('validation')?.claim(schema, route, part))
    ctx.onRoute((route) => {
      const given: unknown = route.options.responses
      if (given === undefined) return
      const name = `${route.method} ${route.path}`
      route.serializeWith(service.compile(byStatus(given, name), { route: name }))
    })
  },
})

/** The option as it is, if its keys are statuses: the types of `res.ok()` and the others go by these alone. */
function byStatus(given: unknown, route: string): { [status: string]: object } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw ResponseSchemaError(route, '', 'it takes an object from status to schema, { 200: User }')
  }
  const wrong = Object.keys(given).find((key) => !/^[2-5]\d\d$/.test(key))
  if (wrong !== undefined) throw ResponseSchemaError(route, wrong, 'the keys are statuses from 200 to 599')
  return given as { [status: string]: object }
}
