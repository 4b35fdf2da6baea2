import { createHash, randomUUID } from 'node:crypto'
import { defineErrors, type Logger, type Middleware, type Request, type Response } from '../../kernel/index.ts'
import { bytesOf } from '../shared/http/body-parser.ts'
import { lockTtl } from '../shared/locks/contract.ts'
import { type Held, LockKeeper } from '../shared/locks/keeper.ts'
import { reporting } from '../shared/stores/availability.ts'
import { isObject } from '../shared/values/json.ts'
import { safely } from '../shared/values/safely.ts'
import { currentTenant } from '../shared/values/tenants.ts'
import { outsideTransactions } from '../shared/work/transactions.ts'
import type { IdempotencySettings, RouteSettings } from './options.ts'
import { type IdempotencyRecord, keptOf, replay } from './record.ts'
import type { IdempotencyStore } from './stores/contract.ts'

const errors = defineErrors({
  IdempotencyKeyError: [
    400,
    (why: string) => `the header Idempotency-Key ${why}. Send a new random value for each operation, such as a UUID`,
  ],
  IdempotencyScopeError: [
    400,
    () =>
      'a request with an Idempotency-Key needs a known caller, who owns the key: the id of req.user, or what idempotency.scope returns',
  ],
  IdempotencyRunningError: [409, () => 'the request with this Idempotency-Key is still running; try again later'],
  IdempotencyResponseError: [
    409,
    () =>
      'the request with this Idempotency-Key was carried out, but its response was a stream or too large to be kept',
  ],
  IdempotencyMismatchError: [
    422,
    () => 'this Idempotency-Key was sent with another method, address or body. Send a new key for another operation',
  ],
  IdempotencyUnavailableError: [
    503,
    () => 'the store of the idempotency keys does not respond, so the request was not carried out; try again later',
  ],
  IdempotencyLostError: [
    503,
    () => 'another process has taken over the Idempotency-Key, so this transaction is rolled back; try again later',
  ],
})

/** A key that this process has claimed, in its store or to be released. */
interface Claim {
  readonly key: string
  /** Its value while the request runs. */
  readonly mine: string
  readonly fingerprint: string
  readonly ttl: number
  readonly before: ReturnType<Response['getHeaders']>
  /** The value that stays after the release. */
  record?: string
  held?: Held
  isInTransaction: boolean
  hasEnded: boolean
  isAnswered: boolean
}

/** Statuses with which the caller should try again, or has gone. */
const again: ReadonlySet<number> = new Set([408, 425, 429, 499])

const parse = (value: string) => {
  const record = safely(() => JSON.parse(value) as IdempotencyRecord)
  return isObject(record) && typeof record.fingerprint === 'string' ? record : undefined
}

const hash = (...parts: readonly (string | Uint8Array)[]) => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(`${part.length} `).update(part)
  return sum.digest('base64url')
}

/** Hashes what must be the same in each attempt. Of a body that is not in memory, such as an upload, it has only the length. */
function fingerprintOf(req: Request): string {
  const { raw, method, url } = req
  // Without scheme and host: the instances behind a proxy may see a different one each.
  return hash(method, url.slice(url.indexOf('/', 8)), bytesOf(req) ?? raw.header('content-length') ?? '')
}

/** The key in the header, with or without the quotes of a structured field (RFC 9651); `undefined` if it was not sent. */
function keyOf(req: Request): string | undefined {
  const given = req.raw.header('idempotency-key')
  if (given === undefined) return undefined
  const key = /^"(.*)"$/.exec(given)?.[1] ?? given
  if (/^[!#-[\]-~]{1,255}$/.test(key)) return key
  throw errors.IdempotencyKeyError('must have 1 to 255 visible ASCII characters other than " and \\')
}

/** Claims the keys of requests, and keeps their responses. */
export class IdempotencyKeys {
  readonly #store: IdempotencyStore
  readonly #keeper: LockKeeper<Claim>
  readonly #settings: IdempotencySettings
  readonly #place: string
  readonly #log: Logger
  readonly #claims = new WeakMap<Request, Claim>()

  constructor(store: IdempotencyStore, settings: IdempotencySettings, place: string, log: Logger) {
    this.#store = store
    this.#settings = settings
    this.#place = place
    this.#log = log
    const swap = async ({ key, mine }: Claim, value: string | undefined, ttl: number) =>
      (await outsideTransactions(() => store.swap(key, mine, value, ttl))) === mine
    const held = {
      renew: (claim: Claim) => swap(claim, claim.mine, lockTtl),
      release: async (claim: Claim) => void (await swap(claim, claim.record, claim.ttl)),
      close: () => store.close?.(),
    }
    const down = 'the store of the idempotency keys fails: requests with a key are refused with 503'
    const up = 'the store of the idempotency keys works again'
    this.#keeper = new LockKeeper(held, reporting(log, down, up, 'error'))
  }

  /** Lets a request continue that is the first with its key, and responds to all others. */
  guard({ ttl = this.#settings.ttl, scope = this.#settings.scope, required }: RouteSettings): Middleware {
    const idempotency: Middleware = async (req, res, next) => {
      const key = keyOf(req)
      if (key === undefined && !required) return next()
      const caller = await scope(req)
      if (!Number.isFinite(caller) && (typeof caller !== 'string' || !caller)) throw errors.IdempotencyScopeError()
      if (key === undefined) throw errors.IdempotencyKeyError('is missing')
      const fingerprint = fingerprintOf(req)
      const tenant = currentTenant()
      const claim: Claim = {
        key: hash(this.#place, ...(tenant === undefined ? [] : [tenant.id]), String(caller), key),
        mine: JSON.stringify({ fingerprint, owner: randomUUID() } satisfies IdempotencyRecord),
        ...{ fingerprint, ttl, before: res.getHeaders() },
        ...{ isInTransaction: false, hasEnded: false, isAnswered: false },
      }
      const found = await this.#claim(claim)
      if (found === undefined) return this.#run(claim, req, next)
      if (found.fingerprint !== fingerprint) throw errors.IdempotencyMismatchError()
      if (found.response !== undefined) return replay(found.response, res)
      if (found.owner === undefined) throw errors.IdempotencyResponseError()
      res.setHeader('retry-after', 1)
      throw errors.IdempotencyRunningError()
    }
    return idempotency
  }

  /** Claims a key; returns the record of the request that had it first. */
  async #claim(claim: Claim): Promise<IdempotencyRecord | undefined> {
    const asked = await this.#keeper.ask(async () => {
      const found = await outsideTransactions(() => this.#store.swap(claim.key, undefined, claim.mine, lockTtl))
      const record = found === undefined ? undefined : parse(found)
      if (found !== undefined && record === undefined)
        throw new TypeError('the value of a key is not that of a request')
      return { record }
    })
    if (asked !== undefined) return asked.record
    // The store may have carried it out.
    this.#keeper.abandon(claim)
    throw errors.IdempotencyUnavailableError()
  }

  async #run(claim: Claim, req: Request, next: () => void | Promise<void>): Promise<void> {
    const onLost = () => {
      if (!claim.isInTransaction)
        this.#log.error(
          'an idempotency key was lost while its request ran: it was not renewed in time, and its request may run twice',
        )
    }
    claim.held = this.#keeper.hold(claim, { ttl: lockTtl, onLost })
    this.#claims.set(req, claim)
    try {
      await next()
    } finally {
      claim.hasEnded = true
      // The time of the request was over: until now, a second attempt would have run beside this one.
      if (claim.isAnswered) await claim.held.release()
    }
  }

  /** Writes the response in the transaction of the handler, which is rolled back if another process has taken over the key. */
  readonly keepInTransaction: Middleware = async (req, res, next) => {
    const claim = this.#claims.get(req)
    // Of an earlier attempt of this transaction, which a conflict has undone.
    if (claim !== undefined) claim.isInTransaction = false
    await next()
    // Such a response rolls back the transaction.
    if (claim === undefined || res.statusCode >= 400) return
    claim.isInTransaction = true
    const found = await this.#store.swap(claim.key, claim.mine, this.#recordOf(claim, res), claim.ttl)
    if (found !== claim.mine) throw errors.IdempotencyLostError()
  }

  /** Keeps the response before it is sent, or gives up the key, so that the request can be sent again. */
  finish(req: Request, res: Response): void | Promise<void> {
    const claim = this.#claims.get(req)
    if (claim === undefined) return undefined
    const hasFailed = res.statusCode >= 500 || again.has(res.statusCode)
    // Undecided if the commit failed: the release changes nothing where the transaction has written the response.
    if (!hasFailed && claim.hasEnded && !claim.isInTransaction) claim.record = this.#recordOf(claim, res)
    this.#claims.delete(req)
    claim.isAnswered = true
    return claim.hasEnded ? claim.held!.release() : undefined
  }

  #recordOf({ fingerprint, before }: Claim, res: Response): string {
    const response = keptOf(res, before, this.#settings.maxSize)
    if (response === undefined)
      this.#log.warn(
        'a response with an idempotency key is a stream or above maxSize: it is not kept, and a second attempt receives 409',
      )
    return JSON.stringify({ fingerprint, ...(response && { response }) } satisfies IdempotencyRecord)
  }

  /** Rejects unless the store responds. */
  async check(): Promise<void> {
    await this.#store.swap('health', '-', undefined, 1)
  }

  close(): Promise<void> {
    return this.#keeper.close()
  }
}
