import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { Request } from '../../kernel/index.ts'

/** Headers by which a proxy gives itself away: of what it passes on, everything has the address of the proxy. */
const proxyHeaders =
  /^(?:forwarded|via|cdn-loop|x-forwarded|x-(?:forwarded|original|envoy)-.*|x-real-ip|x-(?:cluster-)?client-ip|true-client-ip|(?:cf|do)-connecting-ip|(?:fastly|fly)-client-ip)$/

/** Who may look, and how they show it. */
export interface Guard {
  readonly token: string
  /** Why this request is refused before anyone asks for the token; `undefined`: it is not. */
  refusal(req: Request): string | undefined
  /** Whether it brings the token, in its cookie. */
  isKnown(req: Request): boolean
  /** Whether this is the token. */
  isToken(given: unknown): boolean
  cookie(req: Request): string
}

export const makeToken = (): string => randomBytes(24).toString('base64url')

/**
 * Lets in who sits at this machine: the peer and the name that was asked for are of the loopback, no proxy has passed the request on, and the
 * browser sent it from this very page. The name keeps off a foreign site that has its own name point to 127.0.0.1.
 */
export function guardOf(token: string, path: string): Guard {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = digest(token)
  const isToken = (given: unknown) => typeof given === 'string' && timingSafeEqual(digest(given), expected)
  return {
    token,
    isToken,
    refusal(req) {
      if (!isLoopback(req.raw.ip)) return 'the inspector answers this machine alone'
      if (isForwarded(req)) return 'the inspector does not answer through a proxy'
      if (!isLoopbackHost(req.raw.host)) return 'the inspector answers under localhost, 127.0.0.1 and [::1] alone'
      return isFromHere(req) ? undefined : 'this request comes from another site'
    },
    isKnown: (req) => cookiesOf(req, cookieName(req)).some(isToken),
    cookie: (req) =>
      `${cookieName(req)}=${token}; Path=${path}; HttpOnly; SameSite=Strict${req.raw.secure ? '; Secure' : ''}`,
  }
}

function isForwarded({ raw }: Request): boolean {
  // No browser speaks HTTP/1.0, and nginx does to those that it asks, with none of the headers where no one has configured them.
  return raw.version === '1.0' || Object.keys(raw.headers()).some((name) => proxyHeaders.test(name))
}

export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1'
}

function isLoopbackHost(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d*$/, '').toLowerCase()
  if (name.startsWith('[')) return isLoopback(name.slice(1, -1))
  return name === 'localhost' || name.endsWith('.localhost') || isLoopback(name)
}

/** By what browsers say of where a request comes from. A visit of the address bar comes from nowhere. */
function isFromHere(req: Request): boolean {
  const { raw } = req
  const site = raw.header('sec-fetch-site')
  const origin = raw.header('origin')
  const isSame = origin === undefined || origin === `${req.protocol}://${raw.host}`
  if (req.method === 'GET' || req.method === 'HEAD') {
    // A link on another page may lead here: only the user of the browser sees what it opens.
    const isVisit = raw.header('sec-fetch-mode') === 'navigate' && raw.header('sec-fetch-dest') === 'document'
    return isSame && (site === undefined || site === 'same-origin' || site === 'none' || isVisit)
  }
  return origin !== undefined ? isSame && (site === undefined || site === 'same-origin') : site === 'same-origin'
}

/** Cookies know no ports: two servers of one machine would take each other's. */
function cookieName(req: Request): string {
  const [, port = ''] = /:(\d+)$/.exec(req.raw.host ?? '') ?? []
  return `inspector${port}`
}

function cookiesOf(req: Request, name: string): string[] {
  return (req.raw.header('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}
