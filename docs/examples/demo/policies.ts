import { type PolicyErrorHandler, PolicyManager } from 'framework'
import { type Member, memberOf } from './members.ts'

/** Who may do what. A check receives the calling member, or `undefined` for a stranger. */
export const policies = new PolicyManager(
  {
    books: {
      add: (member: Member | undefined) => member !== undefined,
      remove: (member: Member | undefined) => member?.librarian === true,
    },
    loans: { own: (member: Member | undefined) => member !== undefined },
  },
  { user: memberOf },
)

/** Asks strangers to log in, and answers members with 403. */
export const answerDenial: PolicyErrorHandler = (req, res) => {
  if (memberOf(req) !== undefined) return res.forbidden({ code: 'ForbiddenError', message: 'that is for librarians' })
  return res.header('www-authenticate', 'Bearer realm="library"').unauthorized({
    code: 'UnauthorizedError',
    message: 'send authorization: Bearer <token>; the demo knows ada and grace',
  })
}
