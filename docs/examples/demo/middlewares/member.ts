import { defineMiddleware } from 'framework'
import { type Member, memberOf } from '../members.ts'

/** Gives the handlers after a policy the member that it let in. */
export const member = defineMiddleware<{ member: Member }>(function member(req, _res, next) {
  const found = memberOf(req)
  if (found === undefined) throw new Error(`${req.route} needs a policy that asks for a member`)
  req.member = found
  return next()
})
