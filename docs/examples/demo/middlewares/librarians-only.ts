import type { Middleware } from 'framework'
import { memberOf } from '../members.ts'

/**
 * For the pages of plugins, which have no policy. People open them in a browser, which cannot send a token by itself and asks for
 * a name and a password instead: here, the password is the token.
 */
export const librariansOnly: Middleware = function librariansOnly(req, res, next) {
  const member =
    memberOf(req) ?? memberOf({ headers: { authorization: `Bearer ${passwordOf(req.headers.authorization)}` } })
  if (member?.librarian) return next()
  if (member !== undefined) return res.forbidden({ code: 'ForbiddenError', message: 'that is for librarians' })
  res.setHeader('www-authenticate', 'Basic realm="library", charset="UTF-8"')
  return res.unauthorized({ code: 'UnauthorizedError', message: 'that is for librarians' })
}

/** Returns the password of HTTP's Basic scheme (RFC 7617). */
function passwordOf(header = ''): string {
  const [scheme, encoded = ''] = header.split(' ')
  if (scheme?.toLowerCase() !== 'basic') return ''
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}
