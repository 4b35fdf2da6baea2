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

const everywhere = new WeakMap<object, { readonly keeper: SessionKeeper; readonly marker: string }>()

/** Notes that sessions cover the whole server; the cookie header of a request with a session contains `marker`. */
export function coverAll(server: object, keeper: SessionKeeper, marker: string): void {
  everywhere.set(server, { keeper, marker })
}

/** The member `req.session`. */
export const member: PropertyDescriptor & ThisType<WithSession> = {
  get() {
    const there = this[slot] ?? keeperOfUnmarked(this)
    if (there === undefined) throw SessionUnavailableError()
    const record = there instanceof SessionRecord ? there : new SessionRecord(there)
    this[slot] = record
    if (!record.isRead) watchPersonal(this, () => record.use, 'Cookie')
    return record.read()
  },
}

/** For a request that the plugin has not seen, or passed on without a cookie: never creates an empty session instead of a real one. */
function keeperOfUnmarked(req: Request): SessionKeeper | undefined {
  const all = everywhere.get(req.server)
  return all === undefined || req.raw.header('cookie')?.includes(all.marker) ? undefined : all.keeper
}
