import { definePlugin, isFailureBody, type Route, toJson } from '../../kernel/index.ts'
import { type ResponsesOptions, strictnessOf } from './options.ts'
import { ResponseSchemaError, serializerOf } from './serialize.ts'

type Serializer = (payload: unknown) => string

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
  setup(ctx, options: ResponsesOptions = {}) {
    const strictness = strictnessOf(options)
    ctx.onRoute((route) => {
      const given: unknown = route.options.responses
      if (given === undefined) return
      const name = `${route.method} ${route.path}`
      const serializers = new Map<number, Serializer>()
      for (const [status, schema] of schemasOf(given, name)) {
        ctx.services.find('validation')?.claim(schema, name, `responses[${status}]`)
        serializers.set(status, serializerOf(schema, name, status, strictness))
      }
      serialize(route, serializers)
    })
  },
})

function schemasOf(given: unknown, route: string): [number, object][] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw ResponseSchemaError(route, '', 'it takes an object from status to schema, { 200: User }')
  }
  return Object.entries(given).map(([key, schema]: [string, unknown]) => {
    const status = Number(key)
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw ResponseSchemaError(route, key, 'the keys are statuses from 200 to 599')
    }
    const isSchema =
      (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) || typeof schema === 'function'
    if (!isSchema) throw ResponseSchemaError(route, key, 'a schema is an object')
    return [status, schema]
  })
}

function serialize(route: Route, serializers: ReadonlyMap<number, Serializer>): void {
  route.serializeWith((payload, status) => {
    const serializer = serializers.get(status)
    // What the framework answers itself, a 413 for example, has its own form whatever the route declares.
    return serializer === undefined || isFailureBody(payload) ? toJson(payload) : serializer(payload)
  })
}
