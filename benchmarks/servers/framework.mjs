import { Server } from 'framework'
import { hello, port, receipt, scenario, user } from './routes.mjs'

const server = new Server({ port, host: '127.0.0.1' })
if (scenario === 'hello') server.get('/', hello)
else if (scenario === 'params') server.get('/users/:id', (req) => user(req.params.id))
else server.post('/orders', (req) => receipt(req.body))
await server.listen()
