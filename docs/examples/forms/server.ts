import { RouteCollection, Server } from 'framework'
import { wordsFor } from './messages.ts'
import { page, script } from './page.ts'

const Booking = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    email: { type: 'string', format: 'email' },
    seats: { type: 'integer', minimum: 1 },
    guests: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
  },
  required: ['name', 'email', 'seats'],
} as const

export function makeServer() {
  const routes = new RouteCollection()
  routes.get('/', (_req, res) => res.html(page))
  routes.get('/form.js', (_req, res) => res.type('js').send(script))
  routes.post('/bookings', { body: Booking }, (req, res) => res.created({ seats: req.body.seats }))

  const server = new Server({ router: routes, port: 0 })
  server.setValidationErrorHandler({
    message: (issue, req) => wordsFor(issue, req.headers['accept-language']),
  })
  return server
}
