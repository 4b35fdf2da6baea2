import { defineMiddleware } from 'framework'

export interface Member {
  readonly id: string
  readonly name: string
}

// A real service looks tokens up, and stores no more than their hashes.
const membersByToken = new Map<string, Member>([
  ['ada', { id: 'm1', name: 'Ada' }],
  ['grace', { id: 'm2', name: 'Grace' }],
])

/** Lets members in, by the token of the Authorization header; handlers behind it find `req.member`. */
export const member = defineMiddleware<{ member: Member }>(function member(req, res, next) {
  const [scheme, token] = (req.headers.authorization ?? '').split(' ')
  const found = scheme?.toLowerCase() === 'bearer' ? membersByToken.get(token ?? '') : undefined
  if (found === undefined) {
    return res.header('www-authenticate', 'Bearer realm="library"').unauthorized({
      code: 'unauthorized',
      message: 'send authorization: Bearer <token>; the demo knows ada and grace',
    })
  }
  req.member = found
  return next()
})
