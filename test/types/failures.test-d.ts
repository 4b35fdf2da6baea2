import { type ErrorFormat, type Failure, HttpError, PolicyManager, type Request, router, Server } from 'framework'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

const Book = z.object({ id: z.string() })

// A class for failures in the place of a schema: schemas beside it are typed as before.
router.get('/failures/:id', { responses: { 200: Book, 404: HttpError } }, (req, res) => {
  if (req.params.id === '0') throw new HttpError(404, { code: 'BOOK_NOT_FOUND', details: { id: req.params.id } })
  // @ts-expect-error it is thrown, so that it has the format of the server
  if (req.params.id === '1') return res.notFound({ code: 'BOOK_NOT_FOUND', message: 'none' })
  // @ts-expect-error this way as well
  res.status(404).json({ code: 'BOOK_NOT_FOUND', message: 'none' })
  // @ts-expect-error nor without a status
  res.json({ code: 'BOOK_NOT_FOUND', message: 'none' })
  // @ts-expect-error a status that is not among the responses
  res.conflict()
  return { id: req.params.id }
})

const error = new HttpError(409, { message: 'taken', headers: { 'retry-after': '1' }, cause: new Error('why') })
export type HasStatus = Expect<Equal<typeof error.status, number>>
export type IsError = Expect<Equal<typeof error extends Error ? true : false, true>>

interface Shelf {
  shelf: number
  errors?: readonly string[]
}
const shelf: Shelf = { shelf: 3 }
new HttpError(404, { details: shelf })
new HttpError(404, { details: { shelf: 3, books: [{ id: 1 }] } })

// @ts-expect-error a message alone is not an object of options
new HttpError(404, 'gone')
// @ts-expect-error a misspelt member
new HttpError(404, { mesage: 'gone' })
// @ts-expect-error the status of the body is that of the response
new HttpError(404, { details: { status: 'sold' } })
// @ts-expect-error the code is not a detail
new HttpError(404, { details: { code: 'x' } })

new Server({ errorFormat: 'default' })
new Server({ errorFormat: 'problem' })
new Server({ errorFormat: ({ status, code, message }) => ({ status, code, message }) })
new Server({
  errorFormat: {
    body: (failure, req) => {
      type _failure = Expect<Equal<typeof failure, Failure>>
      type _req = Expect<Equal<typeof req, Request | undefined>>
      return { code: failure.code, path: req?.path }
    },
    schema: Book,
    contentType: 'application/vnd.error+json',
  },
})
// @ts-expect-error no format of that name
new Server({ errorFormat: 'problems' })
// @ts-expect-error the response to a failure waits for nothing
const format: ErrorFormat = () => 'text'
void format

const policies = new PolicyManager({ site: { admin: (user?: string) => user === 'ada' } }, { status: 'byUser' })
router.get('/failures/a', { policy: { manager: policies, scope: 'site', handler: 'admin', status: 403 } }, () => 1)
// @ts-expect-error another status
router.get('/failures/b', { policy: { manager: policies, scope: 'site', handler: 'admin', status: 404 } }, () => 1)
// @ts-expect-error another status
new PolicyManager({}, { status: 404 })
