import { type Response, router, Server } from 'framework'
import { Type } from 'typebox'
import { z } from 'zod'

const User = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, born: { type: 'string', format: 'date' } },
  required: ['id'],
} as const
const Problem = z.object({ code: z.string(), at: z.date().transform(String) })

const helper = (res: Response) => res.conflict({ anything: 1 })

router.get(
  '/types/users/:id',
  { responses: { 200: User, 201: Type.Object({ id: Type.Integer() }), 404: Problem } },
  (_req, res) => {
    res.ok({ id: 1, name: 'ada', born: new Date() })
    res.created({ id: 1 })
    // The input of a validator is the type of a response.
    res.notFound({ code: 'x', at: new Date() })
    res.status(404).json({ code: 'x', at: new Date() })
    res.status(200).send({ id: 1 })
    helper(res)
    // @ts-expect-error a status that is not among the responses
    res.conflict({ anything: 1 })
    // @ts-expect-error also without a body
    res.accepted()
    // @ts-expect-error and as a number
    res.status(409).json({ anything: 1 })
    const upstream: number = 200 + Math.trunc(Math.random() * 10)
    // What is only known as a number is looked at when it is sent.
    res.status(upstream).json({ anything: 1 })
    // @ts-expect-error the id is missing
    res.ok({ name: 'ada' })
    // @ts-expect-error a body is needed
    res.ok()
    // @ts-expect-error another type
    res.created({ id: '1' })
    // @ts-expect-error no such member
    res.created({ id: 1, secret: 1 })
    // @ts-expect-error another type
    res.notFound({ code: 1, at: new Date() })
    // @ts-expect-error another type, by its status
    res.status(404).json({ code: 1, at: new Date() })
    return res
  },
)

router.get('/types/users', (_req, res) => {
  res.ok({ anything: 1 })
  res.ok()
  return helper(res).status(202).json({ anything: 1 })
})

router.group('/types/responses', (routes) => {
  // @ts-expect-error another type
  routes.get('/', { responses: { 200: User } }, (_req, res) => res.ok({ id: '1' }))
})
// @ts-expect-error another type
new Server().get('/', { responses: { 200: User } }, (_req, res) => res.ok({ id: '1' }))

// @ts-expect-error a schema is an object
router.get('/types/wrong', { responses: { 200: 'User' } }, () => {})

const service = new Server().services.get('responses')
const write: (payload: unknown, status: number) => string = service.compile(
  { 200: User, '2xx': Type.String(), default: Problem },
  { route: 'GET /', onMismatch: (error) => error.message },
)
write({ id: 1 }, 200)
// @ts-expect-error errors name the route
service.compile({ 200: User }, {})
// @ts-expect-error a schema is an object
service.compile({ 200: 'User' }, { route: 'GET /' })
