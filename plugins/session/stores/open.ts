import { isPromise, type Logger } from '../../../kernel/index.ts'
import { handover } from '../../shared/environment/handover.ts'
import { isProduction } from '../../shared/environment/node-env.ts'
import { Availability, reporting } from '../../shared/stores/availability.ts'
import { openRedis } from '../../shared/stores/redis-client.ts'
import { isObject } from '../../shared/values/json.ts'
import type { StoreChoice } from '../options.ts'
import type { ExactStore, NamedStore, SessionStore, TextStore } from './contract.ts'

/** Opens the store of the options for the sessions of `owner`. */
export async function openStore(choice: StoreChoice, owner: string, log: Logger): Promise<NamedStore> {
  if (choice.kind === 'memory') return { name: 'memory', store: await memoryStore(choice.max, owner, log) }
  if (choice.kind === 'custom')
    return { name: nameOf(choice.store), store: textsIn(await exactStore(choice.store, log)) }
  const { redisStore } = await import('./redis.ts')
  const down = 'the Redis of the session store cannot be reached; trying again'
  const availability = new Availability(reporting(log, down))
  const open = await openRedis(choice.redis, 'the session plugin (store redis)', (error) =>
    error === undefined ? availability.works() : availability.fails(error),
  )
  return { name: 'redis', store: redisStore(open, choice.redis.prefix) }
}

async function memoryStore(max: number, owner: string, log: Logger): Promise<NamedStore['store']> {
  const { MemoryStore } = await import('./memory.ts')
  if (isProduction()) {
    log.warn(
      'sessions are kept in memory: they are lost when this process ends, and other processes do not see them. Set session.store',
    )
  }
  const onFull = () =>
    log.warn(
      { max },
      'the session store is full: it drops the sessions that were unused for the longest time. Raise session.store.memory.max, or use Redis',
    )
  return new MemoryStore(max, onFull, (restore) => handover()?.open(`session ${owner}`, restore))
}

async function exactStore(store: SessionStore, log: Logger): Promise<ExactStore> {
  if (isExact(store)) return store
  const { readFirst } = await import('./read-first.ts')
  if (isProduction()) {
    log.warn(
      `the session store "${nameOf(store)}" has no update(): if several processes share it, a slow request may restore a session that another request ended. Add update(id, data, ttlSeconds)`,
    )
  }
  return readFirst(store)
}

const isExact = (store: SessionStore): store is ExactStore => typeof store.update === 'function'

function nameOf(store: object): string {
  const { name } = store.constructor ?? {}
  return typeof name === 'string' && name !== '' && name !== 'Object' ? name : 'custom'
}

/** Wraps a store of the application, which keeps objects: each request gets its own copy, and the store's objects are not changed. */
function textsIn(store: ExactStore): TextStore {
  return {
    get(id) {
      const found = store.get(id)
      // Not with `instanceof`: a library may have its own promises.
      return isPromise(found) ? Promise.resolve(found).then(textOf) : textOf(found)
    },
    set: (id, text, ttl) => store.set(id, JSON.parse(text), ttl),
    update: (id, text, ttl) => store.update(id, JSON.parse(text), ttl),
    destroy: (id) => store.destroy(id),
    ...(store.touch !== undefined && { touch: (id: string, ttl: number) => store.touch!(id, ttl) }),
  }
}

/** Refuses strings: a store that returns them is an easy mistake, and each letter would become a member of the session. */
function textOf(data: unknown): string | undefined {
  if (data === undefined || data === null) return undefined
  if (isObject(data)) return JSON.stringify(data)
  throw new TypeError(`get() returned ${Array.isArray(data) ? 'an array' : `a ${typeof data}`}, not an object`)
}
