import { KernelRequest } from '../../../kernel/http/request/request.ts'
import { KernelResponse } from '../../../kernel/http/response/response-buffer.ts'

/** For each request: the last member read from it or its response that no plugin has added. */
const missed = new WeakMap<object, string>()

/** The names of members, each with the plugin that adds it. */
export type MemberOwners = Readonly<Record<string, string>>

/**
 * Declares which plugins add which members. They stay `undefined` without their plugin; where a request then fails with a
 * `TypeError`, its log line says what to register. The types cannot do so: they apply to every server of the program.
 *
 * Members of a server's own class hide these, so they cost nothing once the plugin is registered.
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
      // The same as on an object without such a member.
      set(this: Target, value: unknown) {
        Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true })
      },
    })
  }
}

/**
 * Why a request failed with this error, if it has read a member that no plugin has added; otherwise `''`.
 *
 * @example
 * ctx.onError((error, req) => req.log.error({ err: error }, `failed${missingMember(req, error)}`))
 */
export function missingMember(req: object, error: unknown): string {
  const why = error instanceof TypeError ? missed.get(req) : undefined
  return why === undefined ? '' : ` (${why})`
}
