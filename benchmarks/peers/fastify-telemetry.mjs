import { FastifyOtelInstrumentation } from '@fastify/otel'
import fastify from 'fastify'
import { hello, port, scenario } from '../servers/routes.mjs'
import { registerSdk } from '../servers/sdk.mjs'

registerSdk(scenario)
const app = fastify()
await app.register(new FastifyOtelInstrumentation().plugin())
app.get('/', hello)
await app.listen({ port, host: '127.0.0.1' })
