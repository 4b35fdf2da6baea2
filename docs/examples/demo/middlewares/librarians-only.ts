import type { Middleware } from 'framework'
import { memberOf } from '../members.ts'

/** For pages that a plugin brings along: they have no policy. */
export const librariansOnly: Middleware = function librariansOnly(req, res, next) {
  return memberOf(req)?.librarian ? next() : res.forbidden({ code: 'forbidden', message: 'that is for librarians' })
}
