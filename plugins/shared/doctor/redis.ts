import type { Redis } from 'ioredis'
import { systemClock } from '../../../kernel/index.ts'
import { type RedisAddress, shownRedis } from '../stores/redis.ts'
import { connectRedis } from '../stores/redis-client.ts'
import { madeIn } from '../values/memoize.ts'
import type { DoctorCheck, DoctorInput } from './check.ts'
import { clockFinding, readingOf, responseOf } from './clock.ts'

type RedisFacts = Awaited<ReturnType<typeof ask>>

/** The Redis that a plugin uses: its address, or a client of the application. */
export interface UsedRedis {
  readonly address: RedisAddress
  readonly client?: object | undefined
}

/** The facts about each Redis, asked once for all checks. */
const asked = new Map<unknown, Promise<RedisFacts>>()

const factsOf = (used: UsedRedis, feature: string) =>
  madeIn(asked, used.client ?? JSON.stringify(used.address), () =>
    used.client !== undefined ? ask(used.client as Redis) : askAt(used.address, feature),
  )

async function askAt(address: RedisAddress, feature: string): Promise<RedisFacts> {
  let failure: unknown
  const onState = (error: unknown) => {
    failure = error
  }
  const client = await connectRedis(address, { feature, commandTimeout: 2_000, onState })
  try {
    return await ask(client)
  } catch (error) {
    // The command's own error only says that there is no connection.
    throw failure ?? error
  } finally {
    client.disconnect()
  }
}

/** Its eviction policy (`noeviction`, `allkeys-lru` …) and its clock. */
async function ask(client: Redis) {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await client.info('memory'))?.[1]
  const before = systemClock.now()
  const [seconds, micros] = await client.time()
  return { policy, clock: readingOf(Number(seconds) * 1000 + Number(micros) / 1000, before, systemClock.now()) }
}

/** The address for messages, without the database, because the finding is about all of them. */
const shown = ({ address, client }: UsedRedis) =>
  `Redis at ${shownRedis(address, client).replace(/(:\/\/[^/]*)\/\d+$/, '$1')}`

/** Whether a Redis can be asked: clients of other packages have other commands. */
const canBeAsked = (used: UsedRedis) =>
  used.client === undefined || ['info', 'time'].every((name) => typeof Object(used.client)[name] === 'function')

/**
 * Checks of the Redis that a plugin uses: its eviction policy, where that would lose data, and its clock.
 *
 * @param usedBy The feature that uses it, for messages about a missing package.
 * @param of Returns the Redis from the options of the plugin; `undefined` for none.
 * @param evicts What the plugin loses when Redis evicts keys without an expiry: `sessions`, `messages`.
 */
export function redisChecks<Settings>(
  usedBy: string,
  of: (input: DoctorInput<Settings>) => UsedRedis | undefined,
  evicts?: Pick<DoctorCheck, 'code' | 'level'> & { readonly what: string },
): DoctorCheck<Settings>[] {
  const facts = async (input: DoctorInput<Settings>) => {
    const used = of(input)
    if (used === undefined || !canBeAsked(used)) return undefined
    const where = shown(used)
    return { where, ...(await responseOf(where, factsOf(used, usedBy))) }
  }
  const clock: DoctorCheck<Settings> = {
    code: 'redis.clock',
    level: 'warning',
    network: true,
    async find(input) {
      const found = await facts(input)
      return found && clockFinding(found.where, found.clock)
    },
  }
  if (evicts === undefined) return [clock]
  const { what, ...check } = evicts
  const eviction: DoctorCheck<Settings> = {
    ...check,
    network: true,
    async find(input) {
      const found = await facts(input)
      if (found?.policy?.startsWith('allkeys-') !== true) return undefined
      return {
        problem: `${found.where} has the eviction policy ${found.policy}: when its memory is full it deletes ${what}`,
        remedy: 'Set its maxmemory-policy to noeviction, or use a Redis of its own for caches',
        about: found.where,
      }
    },
  }
  return [eviction, clock]
}
