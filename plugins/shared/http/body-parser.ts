import {
  type Middleware,
  type RawRequest,
  type Request,
  type Route,
  type RouteOptions,
  UnsupportedMediaTypeError,
} from '../../../kernel/index.ts'
import { safely } from '../values/safely.ts'
import { RouteValue } from './route-value.ts'

interface BodyRoute {
  readonly method: string
  readonly options: RouteOptions
}

/** Methods whose requests have a body. */
export const withBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'QUERY'])

/** Whether requests of a route normally have a body. */
export const takesBody = ({ method, options }: BodyRoute): boolean => withBody.has(method) || options.body !== undefined

/** For the API description: the refusals of a plugin that reads bodies. */
export function bodyFailures(route: BodyRoute): { readonly [status: string]: string } {
  return takesBody(route) ? { 400: 'BadRequest', 413: 'PayloadTooLarge', 415: 'UnsupportedMediaType' } : {}
}

const keeping = new RouteValue<true>()
const kept = new WeakMap<Request, Uint8Array>()

/** Makes body parsers keep the bytes that they have read for a route, in an `onRoute` hook. */
export const keepBytes = (route: Route): void => keeping.set(route, true)

/** The bytes of a body that a parser has read, for a route given to {@link keepBytes}. */
export const bytesOf = (req: Request): Uint8Array | undefined => kept.get(req)

/** The specifics of one body parser. */
export interface BodyFormat<Settings> {
  /** The name of its middleware. */
  readonly name: string
  /** Whether a content type is of another format (`'none'`), this one in UTF-8 (`'read'`), or this one in another charset (`'charset'`). */
  typeOf(contentType: string | undefined): 'none' | 'charset' | 'read'
  /** The refusal of another charset: `JSON must be in UTF-8`. */
  readonly utf8Only: string
  parse(bytes: Uint8Array, settings: Settings): unknown
}

/** Reads the bodies of one format into `req.body`, each with the settings of its route; `false` leaves the body unread. */
export function bodyParser<Settings extends { readonly sizeLimit: number }>(
  { name, typeOf, utf8Only, parse }: BodyFormat<Settings>,
  ofServer: Settings,
  ofRoutes: RouteValue<Settings | false>,
): Middleware {
  const middleware: Middleware = (req, _res, next) => {
    const { raw } = req
    // Where steps are traced, it is called for each request.
    if (!raw.hasBody) return next()
    const type = typeOf(raw.header('content-type'))
    if (type === 'none') return next()
    const settings = ofRoutes.of(req) ?? ofServer
    if (settings === false) return next()
    if (type === 'charset') throw UnsupportedMediaTypeError(utf8Only)
    refuseEncoded(raw)
    // The promise of `next()` is left to the chain, which awaits it anyway: this saves one promise.
    return raw.bytes(settings.sizeLimit).then((bytes) => {
      if (keeping.of(req)) kept.set(req, bytes)
      req.body = parse(bytes, settings)
      next()
    })
  }
  Object.defineProperty(middleware, 'name', { value: name })
  return Object.assign(middleware, { forBodies: true })
}

export function refuseEncoded(raw: RawRequest): void {
  const encoding = raw.header('content-encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw UnsupportedMediaTypeError('a body with a content-encoding is not supported')
}

// `fatal`: a lenient decoder makes different bytes equal. `ignoreBOM` keeps a byte order mark in the text.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes; `undefined` if they are not UTF-8. */
export const utf8Text = (bytes: Uint8Array): string | undefined => safely(() => strict.decode(bytes))
