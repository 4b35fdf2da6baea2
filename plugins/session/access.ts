import { defineErrors, type Request } from '../../kernel/index.ts'
import { watchPersonal } from '../shared/http/client-specific.ts'
import type { SessionKeeper } from './keeper.ts'
import { SessionRecord } from './session.ts'

/** The member of a request that holds its session, or the keeper that can create one. */
export const slot = Symbol('session')
export type WithSession = Request & { [slot]?: SessionRecord | SessionKeeper }

const { SessionUnavailableError } = defineErrors({
  SessionUnavailableError: () =>
    'req.session was read where it is not loaded: before the session plugin, outside its scope, or after its store failed. Register session earlier, or in an outer scope',
})

/** Gives a request its session. */
export function place(req: WithSession, record: SessionRecord): SessionRecord {
  req[slot] = record
  watchPersonal(req, () => record.use)
  return record
}

/** The member `req.session` of one server. */
export class SessionAccess {
  #everywhere: { readonly keeper: SessionKeeper; readonly marker: string } | undefined

  /** Notes that sessions cover the whole server; the cookie header of a request with a session contains `marker`. */
  coverAll(keeper: SessionKeeper, marker: string): void {
    this.#everywhere = { keeper, marker }
  }

  readonly member: PropertyDescriptor & ThisType<WithSession>

  constructor() {
    const recordOf = (req: WithSession) => this.#recordOf(req)
    this.member = {
      get() {
        return recordOf(this).read()
      },
    }
  }

  #recordOf(req: WithSession): SessionRecord {
    const there = req[slot]
    if (there instanceof SessionRecord) return there
    const keeper = there ?? this.#keeperOfUnmarked(req)
    if (keeper === undefined) throw SessionUnavailableError()
    return place(req, new SessionRecord(keeper))
  }

  /** For a request that the plugin has not seen, or passed on without a cookie: never creates an empty session instead of a real one. */
  #keeperOfUnmarked(req: Request): SessionKeeper | undefined {
    const all = this.#everywhere
    return all === undefined || req.raw.header('cookie')?.includes(all.marker) ? undefined : all.keeper
  }
}
