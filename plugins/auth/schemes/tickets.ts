import { clock, type Request } from '../../../kernel/index.ts'
import { option } from '../../shared/options/index.ts'
import {
  AuthenticationUnavailableError,
  type AuthScheme,
  AuthSetupError,
  type AuthSubject,
  type Awaitable,
  type Granted,
  type Grants,
  hashOf,
  ownVerdictOf,
  random,
  userOf,
  type Verdict,
} from '../scheme.ts'
import { memoryTickets, type TicketStore } from '../stores/tickets.ts'

/** Options of tickets. */
export interface TicketOptions<Id extends string | number = string> {
  /** Returns the caller with an `id` (or `sub`), as the scheme that the ticket was issued with does; nothing for one who may no longer enter. */
  find: (id: Id, req: Request) => Awaitable<AuthSubject | null | undefined>
  /** Where tickets are kept until they are used. Default `memoryTickets()`, for one process; `redisTickets(client)` for several. */
  store?: TicketStore
  /** SECONDS for which a ticket is valid. Default 30. */
  expiresIn?: number
}

/** A ticket for a client. */
export interface IssuedTicket {
  /** The ticket, for the query parameter `ticket_token` or the sub-protocol `ticket.…`. */
  readonly ticket: string
  /** SECONDS for which it is valid. */
  readonly expires_in: number
}

/** Tickets: a scheme, and how they are issued. */
export interface TicketScheme extends AuthScheme {
  /**
   * Issues a ticket to the caller of a request, which opens one websocket with the same scopes. `path` is the only path at which it is valid.
   *
   * @throws (as a rejection) AuthSetupError for a request that `auth` has not let in, and for a caller without `id` or `sub`.
   */
  issue(req: Request, options?: { readonly path?: string }): Promise<IssuedTicket>
}

/** What is stored of a ticket. */
interface Row extends Pick<Granted, 'scopes' | 'keys'> {
  readonly id: string | number
  readonly path?: string | undefined
  /** When it was issued, in milliseconds since 1970: the clock of another instance has another beginning. */
  readonly at: number
}

const ticketOptions = option.shape({
  find: option
    .fn<(id: never, req: Request) => Awaitable<AuthSubject | null | undefined>>('a function (id, req) => subject')
    .required(),
  store: option.having<TicketStore>(['put', 'take'], 'a store: memoryTickets(), redisTickets(client) or your own'),
  expiresIn: option.int({ min: 1, max: 3_600, unit: 'seconds' }).default(30),
})
const issueOptions = option.shape({ path: option.name(/^\//, 'a path such as "/live"') })

const refused = { wrong: 'the ticket is not valid, has expired, was used before, or is for another path' }

/** The ticket of a request, in its query or among the sub-protocols; `''` for several. */
function ticketIn({ raw, url }: Request): string | undefined {
  const offered = (raw.header('sec-websocket-protocol') ?? '')
    .split(',')
    .flatMap((one) => /^ticket\.(.*)$/.exec(one.trim())?.[1] ?? [])
  const all = [...new URL(url).searchParams.getAll('ticket_token'), ...offered]
  return all.length > 1 ? '' : all[0]
}

/**
 * Authenticates requests that open a websocket by tickets, since browsers cannot send `Authorization` with them. A ticket is valid once, for a
 * short time, as `?ticket_token=…` or as the sub-protocol `ticket.…` beside one of the route's own.
 *
 * @throws OptionError
 * @example
 * const sockets = tickets({ find: (id) => ({ id }) })
 * const plugin = auth({ schemes: { sockets } })
 * router.post('/ticket', { auth: 'required' }, (req) => sockets.issue(req))
 */
export function tickets<Id extends string | number = string>(given: TicketOptions<Id>): TicketScheme {
  const { find, store = memoryTickets(), expiresIn } = ticketOptions.parse(given, 'tickets')
  const services = new Set<Grants>()
  return {
    challenge: 'Ticket',
    header: 'sec-websocket-protocol',
    description: { type: 'apiKey', in: 'query', name: 'ticket_token' },
    opensSockets: true,
    prepare: (auth) => void services.add(auth),
    async issue(req, options) {
      const { path } = issueOptions.parse(options, 'issue')
      const service = [...services].find((auth) => auth.grantedTo(req) !== undefined)
      const granted = service?.grantedTo(req)
      const { id, sub } = (granted?.subject ?? {}) as { readonly id?: unknown; readonly sub?: unknown }
      const caller = id ?? sub
      if (granted === undefined || userOf(req) !== granted.subject)
        throw AuthSetupError(
          'a ticket is for the caller of a request, and this one has none: its route needs auth: "required"',
        )
      if (typeof caller !== 'string' && !Number.isFinite(caller))
        throw AuthSetupError(
          'a ticket needs the id of its caller, who has neither "id" nor "sub", a string or a number',
        )
      const ticket = random(32)
      const keys = service!.keysOf(req)
      const row: Row = { id: caller as string | number, scopes: granted.scopes, keys, path, at: clock.now() }
      await store.put(hashOf(ticket), JSON.stringify(row), row.at + expiresIn * 1_000)
      return { ticket, expires_in: expiresIn }
    },
    async authenticate(req) {
      if (req.raw.upgrade !== 'websocket') return undefined
      const ticket = ticketIn(req)
      if (ticket === undefined) return undefined
      if (!/^[\w-]{43}$/.test(ticket)) return refused
      const text = await Promise.resolve(store.take(hashOf(ticket))).catch((cause: unknown) => {
        throw Object.assign(AuthenticationUnavailableError('the store of the tickets does not respond'), { cause })
      })
      if (typeof text !== 'string') return refused
      // It is used up now, also where the path is wrong.
      const { id, scopes, keys, path, at } = JSON.parse(text) as Row
      // A row without `keys` is of a version that kept only a log-in: what it opened would not end with its session.
      if (!Array.isArray(keys) || (path !== undefined && path !== req.path)) return refused
      const verdict = ownVerdictOf(await find(id as never, req))
      if ('wrong' in verdict) return refused
      // It must not let anyone in again who has been signed out since it was issued; times are cut to a millisecond.
      const since = clock.monotonic() - Math.max(0, clock.now() - at) - 1
      return { subject: verdict.subject, scopes, since, keys } as Verdict
    },
  }
}
