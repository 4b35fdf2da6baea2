import fastify from 'fastify'
import { hello, port, receipt, scenario, user } from './routes.mjs'

const app = fastify()
if (scenario === 'hello') app.get('/', hello)
else if (scenario === 'params') app.get('/users/:id', (request) => user(request.params.id))
else app.post('/orders', (request) => receipt(request.body))
await app.listen({ port, host: '127.0.0.1' })
