import { randomBytes, timingSafeEqual } from 'node:crypto'
import { clock, type Request } from '../../../kernel/index.ts'
import { option } from '../../shared/options/index.ts'
import { LruMap } from '../../shared/values/lru.ts'
import { type AuthScheme, type AuthSubject, type Awaitable, bearerOf, hashOf, verdictOf, wrong } from '../scheme.ts'

/** What the application has stored about an API key. */
export interface ApiKeyRow {
  /** The hash that `issue` returned. */
  readonly hash: string
  /** The caller: `req.user`. */
  readonly subject: AuthSubject
  /** What the key allows. */
  readonly scopes?: readonly string[]
  /** When the key ends: a `Date`, or milliseconds since 1970. */
  readonly expiresAt?: Date | number | null
}

/** Options of API keys. */
export interface ApiKeyOptions {
  /** How keys begin, so that scanners for leaked secrets and people recognise them: letters, digits and `_`, such as `shop_live`. */
  prefix: string
  /** Returns what is stored under the id of a key; nothing for an unknown or revoked one. */
  find: (id: string, req: Request) => Awaitable<ApiKeyRow | null | undefined>
  /** The header with the key; with `authorization`, the key follows `Bearer`. Default `x-api-key`. */
  header?: string
  /** Called with the id of a used key, at most once a minute for each. It is not awaited; an error is logged. */
  onUse?: (id: string, at: Date) => unknown
}

/** API keys: a scheme, and how to make a key. */
export interface ApiKeyScheme extends AuthScheme {
  /** Makes a key. Show `key` to its owner once, and store `id` and `hash`: the key cannot be computed from them. */
  issue(): { readonly key: string; readonly id: string; readonly hash: string }
}

const options = option
  .shape({
    prefix: option.name(/^[A-Za-z][A-Za-z0-9_]{0,30}$/, 'letters, digits and "_", such as "shop_live"').required(),
    find: option.fn<ApiKeyOptions['find']>('a function (id, req) => { hash, subject }').required(),
    header: option
      .name(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'the name of a header')
      .into((name) => name.toLowerCase())
      .default('x-api-key'),
    onUse: option.fn<NonNullable<ApiKeyOptions['onUse']>>('a function (id, at)'),
  })
  .typed<ApiKeyOptions>()

/**
 * Authenticates by API keys, `<prefix>_<id>_<secret>`: the application stores their ids and hashes, and the scheme makes and checks them.
 *
 * @throws OptionError
 * @example
 * const rows = new Map<string, ApiKeyRow>()
 * const keys = apiKey({ prefix: 'shop', find: (id) => rows.get(id) })
 * const { key, id, hash } = keys.issue()
 * rows.set(id, { hash, subject: { id: 'partner' }, scopes: ['orders:read'] })
 * const plugin = auth({ schemes: { keys } })
 */
export function apiKey(given: ApiKeyOptions): ApiKeyScheme {
  const { prefix, find, header, onUse } = options.parse(given, 'apiKey')
  const isBearer = header === 'authorization'
  const form = new RegExp(`^${prefix}_([0-9a-f]{24})_([\\w-]{43})$`)
  const used = new LruMap<true>({ max: 10_000 })
  const report = (id: string, { log }: Request) => {
    if (onUse === undefined || used.has(id)) return
    used.set(id, true, 60_000)
    Promise.resolve()
      .then(() => onUse(id, new Date(clock.now())))
      .catch((error: unknown) => log.error({ err: error, key: id }, 'the use of an API key could not be recorded'))
  }
  return {
    challenge: isBearer ? 'Bearer' : 'ApiKey',
    header,
    description: isBearer ? { type: 'http', scheme: 'bearer' } : { type: 'apiKey', in: 'header', name: header },
    issue() {
      const [id, secret] = [randomBytes(12).toString('hex'), randomBytes(32).toString('base64url')]
      return { key: `${prefix}_${id}_${secret}`, id, hash: hashOf(secret) }
    },
    async authenticate(req) {
      const key = isBearer ? bearerOf(req) : req.raw.header(header)
      // With `Authorization`, another scheme may have tokens of its own.
      if (key === undefined || (isBearer && !key.startsWith(`${prefix}_`))) return undefined
      const [, id, secret] = form.exec(key) ?? []
      if (id === undefined) return wrong
      const row = await find(id, req)
      // The hashes of the hashes, which have one length: how much of a guess is right has no influence on the time.
      const [sent, kept] = [hashOf(secret!), String(row?.hash)].map((hash) => Buffer.from(hashOf(hash)))
      if (!timingSafeEqual(sent!, kept!) || !row) return wrong
      if (row.expiresAt != null && !(Number(row.expiresAt) > clock.now()))
        return { wrong: 'the credential has expired' }
      report(id, req)
      return verdictOf(row.subject, row.scopes)
    },
  }
}
