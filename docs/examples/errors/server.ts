import { HttpError, RouteCollection, Server } from 'framework'
import { BoxOffice } from './box-office.ts'
import { answerFailure } from './failures.ts'
import { type Reporter, report } from './report.ts'

const NewSale = {
  type: 'object',
  properties: { seats: { type: 'integer', minimum: 1 } },
  required: ['seats'],
} as const

export function makeServer(reporter: Reporter, log = true) {
  const routes = new RouteCollection()
  const boxOffice = new BoxOffice()

  routes.post('/shows/:show/sales', { body: NewSale, responses: { 404: HttpError, 409: HttpError } }, (req) =>
    boxOffice.sell(req.params.show, req.body.seats),
  )
  routes.get('/broken', () => {
    throw new Error('the printer is on fire')
  })
  routes.get('/sales.csv', (_req, res) => {
    res.type('csv')
    return res.stream(linesOf())
  })

  const server = new Server({
    router: routes,
    errorFormat: 'problem',
    plugins: { log, report: report({ reporter }) },
  })
  return server.setErrorHandler(answerFailure)
}

async function* linesOf() {
  yield 'show,seats\n'
  throw new Error('the database went away')
}
