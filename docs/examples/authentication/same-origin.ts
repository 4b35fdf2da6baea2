import { HttpError, type Middleware } from 'framework'

const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY'])

/** Refuses the unsafe requests that a page of another origin makes a browser send, with a form or a script. */
export const sameOrigin: Middleware = function sameOrigin(req, _res, next) {
  if (safe.has(req.method)) return next()
  const site = req.headers['sec-fetch-site']
  const { origin } = req.headers
  const isOwn =
    site === undefined ? origin === undefined || hostOf(origin) === new URL(req.url).host : site === 'same-origin'
  if (isOwn || site === 'none') return next()
  throw new HttpError(403, {
    code: 'FOREIGN_ORIGIN',
    message: `A page of ${origin ?? 'another origin'} may not do this`,
  })
}

/** A sandboxed page sends `null`, which matches no host. */
const hostOf = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : '')
