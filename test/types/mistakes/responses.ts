import { router } from 'framework'
import { Type } from 'typebox'
import { z } from 'zod'

const User = Type.Object({ id: Type.Number(), name: Type.Optional(Type.String()) })
const Problem = z.object({ code: z.string() })
const responses = { 200: User, 404: Problem } as const

router.get('/', { responses }, () => ({ id: '1' }))
//! Type 'string' is not assignable to type 'number'

router.get('/', { responses }, async () => ({ id: '1' }))
//! Type 'Promise<{ id: string; }>' is not assignable to type

router.get('/', { responses }, () => 'text')
//! Type 'string' is not assignable to type

router.get('/', { responses: { 201: User } }, () => ({ id: '1' }))
//! Type 'string' is not assignable to type 'number'

router.get('/', { responses: { '200': User } }, () => ({ id: '1' }))
//! Type 'string' is not assignable to type 'number'

router.get('/', { responses }, (_req, res) => {
  //! is not assignable to parameter of type 'Handler<
  if (Math.random() > 0.5) return res.ok({ id: 1 })
  return { id: '1' }
})

router.get('/', { responses }, (_req, res) => {
  res.ok({ id: '1' })
  //! Type 'string' is not assignable to type 'number'
  res.json({ id: '1' })
  //! Type 'string' is not assignable to type 'number'
  res.header('x-a', 'b').send({ kode: 'x' })
  //! 'kode' does not exist in type
  res.notFound({ kode: 'x' })
  //! 'kode' does not exist in type '{ code: string; }'
  res.status(404).json({ code: 1 })
  //! Type 'number' is not assignable to type 'string'
  res.conflict({ code: 'x' })
  //! "status 409 is not among the responses of this route"
  res.created()
  //! "status 201 is not among the responses of this route"
  res.status(409).json({ code: 'x' })
  //! Argument of type '409' is not assignable to parameter of type '200 | 404'
  res.header('x-a', 'b').ok({ id: '1' })
  //! Type 'string' is not assignable to type 'number'
  res.type('json').status(404).header('x-a', 'b').json({ code: 1 })
  //! Type 'number' is not assignable to type 'string'
})
