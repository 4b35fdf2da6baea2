import type { Logger } from '../../../kernel/index.ts'
import { handover } from '../../shared/environment/handover.ts'
import { isProduction } from '../../shared/environment/node-env.ts'
import { Availability } from '../../shared/stores/availability.ts'
import { openRedis } from '../../shared/stores/redis-store.ts'
import type { StoreChoice } from '../options.ts'
import type { ExactStore, NamedStore, SessionStore } from './contract.ts'
import type { RedisClient } from './redis.ts'

/** Opens the store of the options for the sessions of `owner`; also returns a function that closes a store the plugin has opened. */
export async function openStore(
  choice: StoreChoice,
  owner: string,
  log: Logger,
): Promise<{ named: NamedStore; close?: () => void }> {
  switch (choice.kind) {
    case 'memory':
      return { named: { name: 'memory', store: await memoryStore(choice.max, owner, log) } }
    case 'redis': {
      const { RedisStore } = await import('./redis.ts')
      const availability = new Availability((isDown, error) => {
        if (isDown) log.warn({ err: error }, 'the Redis of the session store cannot be reached; trying again')
      })
      const open = await openRedis<RedisClient>(choice.redis, 'the session plugin (store redis)', (error) => {
        if (error === undefined) availability.works()
        else availability.fails(error)
      })
      const store = new RedisStore(open, choice.redis.prefix)
      return { named: { name: 'redis', store }, close: () => store.close() }
    }
    case 'custom': {
      const { ObjectStore } = await import('./objects.ts')
      return { named: { name: nameOf(choice.store), store: new ObjectStore(await exactStore(choice.store, log)) } }
    }
  }
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
  const { ReadFirstStore } = await import('./read-first.ts')
  if (isProduction()) {
    log.warn(
      `the session store "${nameOf(store)}" has no update(): if several processes share it, a slow request may restore a session that another request ended. Add update(id, data, ttlSeconds)`,
    )
  }
  return new ReadFirstStore(store)
}

const isExact = (store: SessionStore): store is ExactStore => typeof store.update === 'function'

function nameOf(store: object): string {
  const { name } = store.constructor ?? {}
  return typeof name === 'string' && name !== '' && name !== 'Object' ? name : 'custom'
}
