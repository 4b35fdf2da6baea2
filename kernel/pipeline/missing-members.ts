import { KernelRequest } from '../http/request/request.ts'
import { KernelResponse } from '../http/response/response-buffer.ts'

/** The member of a request or response that was read last and that no plugin has added, by request. */
const missed = new WeakMap<object, string>()

/** Names of members, and the plugin that adds each. */
export type MemberOwners = Readonly<Record<string, string>>

/**
 * Says which plugins add which members. They stay `undefined` without their plugin; where a request then fails with a
 * `TypeError`, its log line says what to register. The types cannot: they hold for every server of the program.
 *
 * Members of a server's own class hide these, so that a plugin that is registered pays nothing.
 *
 * @example
 * announceMembers({ agent: 'userAgent' }, {})
 */
export function announceMembers(request: MemberOwners, response: MemberOwners): void {
  announce(KernelRequest.prototype, 'req', request, (self) => self)
  announce(KernelResponse.prototype, 'res', response, (self) => self.request)
}

function announce<Target extends object>(
  prototype: Target,
  variable: string,
  members: MemberOwners,
  requestOf: (self: Target) => object,
): void {
  for (const [name, plugin] of Object.entries(members)) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: Target): undefined {
        missed.set(requestOf(this), `${variable}.${name} is added by the plugin "${plugin}", which is not registered`)
      },
      // As on an object without such a member.
      set(this: Target, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
      },
    })
  }
}

/**
 * Why a request failed with this error, where it has read a member that no plugin has added; else `''`.
 *
 * @example
 * ctx.onError((error, req) => req.log.error({ err: error }, `failed${missingMember(req, error)}`))
 */
export function missingMember(req: object, error: unknown): string {
  const why = error instanceof TypeError ? missed.get(req) : undefined
  return why === undefined ? '' : ` (${why})`
}
