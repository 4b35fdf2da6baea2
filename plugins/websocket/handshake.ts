import { BadRequestError, defineErrors, type Request, type Response, UpgradeRequiredError } from '../../kernel/index.ts'

const { OriginRefusedError } = defineErrors({
  OriginRefusedError: [
    403,
    (origin: string) =>
      `pages of ${origin} may not open this websocket. The option origins of the plugin websocket lists the allowed origins`,
  ],
})

/** The version of RFC 6455, the only one in use. */
const version = '13'

/** 16 bytes in base64 (RFC 6455 section 4.1). */
const key = /^[A-Za-z0-9+/]{21}[AQgw]==$/

const token = "[\\w!#$%&'*+.^`|~-]+"

/** Names of sub-protocols: `1#token` of RFC 9110. */
const protocolList = new RegExp(`^${token}(?:[ \\t]*,[ \\t]*${token})*$`)

const parameter = `${token}(?:=(?:${token}|"${token}"))?`
const extension = `${token}(?:[ \\t]*;[ \\t]*${parameter})*`

/** RFC 6455 section 9.1: a quoted value must also be a token. */
const extensionList = new RegExp(`^${extension}(?:[ \\t]*,[ \\t]*${extension})*$`)

/** @throws the refusal of an opening handshake (RFC 6455 section 4.2.1). */
export function checkHandshake(req: Request, res: Response): void {
  const { raw } = req
  if (raw.header('sec-websocket-version') !== version) {
    // RFC 9110 section 15.5.22: a 426 must name the protocol.
    res.setHeader('connection', 'upgrade')
    res.setHeader('upgrade', 'websocket')
    res.setHeader('sec-websocket-version', version)
    throw UpgradeRequiredError(`the version of the websocket protocol is ${version}`)
  }
  if (!key.test(raw.header('sec-websocket-key') ?? ''))
    throw BadRequestError('the header Sec-WebSocket-Key is not 16 bytes in base64')
  const extensions = raw.header('sec-websocket-extensions')
  if (extensions !== undefined && !extensionList.test(extensions))
    throw BadRequestError('the header Sec-WebSocket-Extensions is not a list of extensions with parameters')
}

/**
 * Checks the origin. A server that only knows `http` may be behind a proxy that ends TLS, so it accepts pages of both schemes. A server
 * reached over `https` refuses a page of the same host over `http`, which an attacker on the network may have written.
 *
 * @throws OriginRefusedError for a page of another origin: browsers let every page open a websocket, and send the cookies of its
 * host.
 */
export function checkOrigin({ raw, url }: Request, allowed: 'same' | 'any' | readonly string[]): void {
  const origin = raw.header('origin')
  if (allowed === 'any' || origin === undefined) return
  const from = URL.canParse(origin) ? new URL(origin) : undefined
  // Browsers send it only in this form: without a user, a path, or upper case.
  if (from?.origin === origin) {
    const own = new URL(url)
    const isWeb = from.protocol === 'https:' || (from.protocol === 'http:' && own.protocol === 'http:')
    if (isWeb && from.host === own.host) return
  }
  if (allowed !== 'same' && allowed.includes(origin)) return
  throw OriginRefusedError(from === undefined ? 'an unknown origin' : from.origin)
}

/**
 * Returns the first of the server's sub-protocols that the client offers; `''` if the route has none.
 *
 * @throws BadRequestError if it offers none of them, the same one twice, or an invalid name (RFC 6455 section 4.1).
 */
export function chooseProtocol(offered: string | undefined, known: readonly string[] | undefined): string {
  const all = offered === undefined ? [] : offered.split(',').map((one) => one.trim())
  if (offered !== undefined && (!protocolList.test(offered) || new Set(all).size < all.length))
    throw BadRequestError('the header Sec-WebSocket-Protocol is not a list of different names')
  if (known === undefined) return ''
  const chosen = known.find((one) => all.includes(one))
  if (chosen === undefined)
    throw BadRequestError(`the client does not offer any of the sub-protocols: ${known.join(', ')}`)
  return chosen
}

/** Headers of the handshake, which break the connection if repeated, and headers that a 101 cannot have (RFC 9110 section 8.6). */
const ownNames =
  /^(?:connection|upgrade|keep-alive|content-length|transfer-encoding|sec-websocket-(?:accept|extensions|protocol))$/i

/** The headers of the response that can be sent with the 101, as alternating names and values. */
export function withoutHandshake(headers: readonly string[]): readonly string[] {
  return headers.filter((_, i) => !ownNames.test(headers[i - (i % 2)]!))
}
