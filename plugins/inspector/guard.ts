import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Request } from '../../kernel/index.ts'
import { isForwarded, isLoopback, isLoopbackHost } from '../shared/development/loopback.ts'

/** Decides which requests may see the inspector, and checks their token. */
export type Guard = ReturnType<typeof guardOf>

export const makeToken = (): string => randomBytes(24).toString('base64url')

/**
 * Admits only users of this machine: the peer and the requested host are loopback, no proxy has forwarded the request, and the browser
 * sent it from this page. Checking the host keeps out a foreign site that lets its own name point to 127.0.0.1.
 */
export function guardOf(token: string, path: string) {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(token)
  const isToken = (given: unknown) => typeof given === 'string' && timingSafeEqual(digest(given), expected)
  return {
    isToken,
    /** Returns why a request is refused, before the token is checked; `undefined` if it is not refused. */
    refusal(req: Request): string | undefined {
      if (!isLoopback(req.raw.ip)) return 'the inspector responds to this machine alone'
      // Browsers never use HTTP/1.0, but nginx does towards its upstreams, without any of the headers unless they are configured.
      if (req.raw.version === '1.0' || isForwarded(req.raw)) return 'the inspector does not respond through a proxy'
      if (!isLoopbackHost(req.raw.host)) return 'the inspector responds only under localhost, 127.0.0.1 and [::1]'
      return isFromHere(req) ? undefined : 'this request comes from another site'
    },
    /** Whether a request has the token in its cookie. */
    isKnown: (req: Request) => cookiesOf(req, cookieName(req)).some(isToken),
    cookie: (req: Request) =>
      `${cookieName(req)}=${token}; Path=${path}; HttpOnly; SameSite=Strict${req.raw.secure ? '; Secure' : ''}`,
  }
}

/** Whether a request comes from this page, according to the browser's headers. One from the address bar comes from no page. */
function isFromHere(req: Request): boolean {
  const { raw } = req
  const site = raw.header('sec-fetch-site')
  const origin = raw.header('origin')
  const isSame = origin === undefined || origin === `${req.protocol}://${raw.host}`
  if (req.method === 'GET' || req.method === 'HEAD') {
    // A link on another page may lead here: only the user of the browser sees the page that it opens.
    const isVisit = raw.header('sec-fetch-mode') === 'navigate' && raw.header('sec-fetch-dest') === 'document'
    return isSame && (site === undefined || site === 'same-origin' || site === 'none' || isVisit)
  }
  return origin !== undefined ? isSame && (site === undefined || site === 'same-origin') : site === 'same-origin'
}

/** Contains the port, which cookies ignore: two servers on one machine would overwrite each other's cookie. */
function cookieName(req: Request): string {
  const [, port = ''] = /:(\d+)$/.exec(req.raw.host ?? '') ?? []
  return `inspector${port}`
}

const cookiesOf = (req: Request, name: string) =>
  (req.raw.header('cookie') ?? '')
    .split(/\s*;\s*/)
    .flatMap((pair) => (pair.startsWith(`${name}=`) ? pair.slice(name.length + 1) : []))
