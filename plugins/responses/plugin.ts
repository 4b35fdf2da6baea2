import { definePlugin, type OptionPlace } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import { Responses } from './service.ts'

/**
 * Shapes responses with the schemas in the route option `responses`: members outside a schema are never sent.
 *
 * Every server has it. A response that does not match its schema is an error like any other: the error handler responds,
 * otherwise 500 without a body is sent, and a line in the log names route and status.
 *
 * @example
 * import { router } from 'framework'
 *
 * const User = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } }, required: ['id'] } as const
 * router.get('/users/:id', { responses: { 200: User } }, (req, res) => res.ok({ id: 1, name: 'ada' }))
 */
export const responses = definePlugin({
  name: 'responses',
  access: false,
  routeOptions: { responses: responsesOfRoute, issues: option.list(option.text()) },
  provide: () => ({ responses: new Responses() }),
  setup(ctx) {
    const service = ctx.services.get('responses')
    service.claimWith((schema, route, part) => ctx.services.find('validation')?.claim(schema, route, part))
    ctx.onRoute((route) => {
      const { responses: schemas = {}, issues } = route.settings
      if (route.settings.responses === undefined && issues === undefined) return
      route.serializeWith(service.compile(schemas, { route: `${route.method} ${route.path}`, issues }))
    })
  },
})

/** The schemas of a route, unchanged, if their keys are statuses: the types of `res.ok()` and the others depend on these alone. */
function responsesOfRoute(given: unknown, place: OptionPlace): { readonly [status: string]: object } | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return void place.wrong(given, 'an object from status to schema, { 200: User }')
  }
  for (const key of Object.keys(given).filter((one) => !/^[2-5]\d\d$/.test(one))) {
    place.problem(
      `the option "${place.in(key).path}" is not a status of a response: the keys are statuses from 200 to 599`,
    )
  }
  return given as { readonly [status: string]: object }
}
