import { definePlugin } from '../../kernel/index.ts'
import { option } from '../shared/options/index.ts'
import { responsesOfRoute } from './options.ts'
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
