import { randomUUID } from 'node:crypto'
import type { Present } from './contract.ts'
import type { RedisCommands } from './redis.ts'

/** How often an instance says that it lives, and after how long of silence the others take it for dead. */
const beatMs = 5_000
const staleMs = 15_000

/** What nobody has refreshed for that long goes: all instances are gone. */
const keptMs = 24 * 60 * 60 * 1_000
const refreshEvery = 720

const beat = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local isNew = redis.call('zadd', KEYS[1], now, ARGV[1])
return { isNew, redis.call('zrangebyscore', KEYS[1], '-inf', now - ARGV[2]) }`

interface Surroundings {
  /** Tells all instances of a change in one channel. */
  tell(name: string, text: string): Promise<unknown>
  failed(error: unknown): void
}

/**
 * Who is in which channel, on all instances: a hash for each channel, in which each client stands with its instance. What a dead instance
 * has left is not counted, and is taken away by one of the others.
 */
export class RedisPresence {
  readonly #redis: RedisCommands
  readonly #prefix: string
  readonly #around: Surroundings
  readonly #instance = randomUUID()
  readonly #own = new Map<string, Map<string, Present>>()
  #timer: ReturnType<typeof setInterval> | undefined
  #beats = 0

  constructor(redis: RedisCommands, prefix: string, around: Surroundings) {
    this.#redis = redis
    this.#prefix = prefix
    this.#around = around
    redis.defineCommand('channelBeat', { numberOfKeys: 1, lua: beat })
  }

  get #instances(): string {
    return `${this.#prefix}:instances`
  }

  #keyOf(name: string): string {
    return `${this.#prefix}:{${name}}:present`
  }

  #channelsOf(instance: string): string {
    return `${this.#prefix}:instance:${instance}`
  }

  start(): void {
    this.#timer = setInterval(() => void this.#beat(), beatMs)
    this.#timer.unref()
    void this.#beat()
  }

  async #beat(): Promise<void> {
    try {
      const [isNew, stale] = await this.#redis.channelBeat(this.#instances, this.#instance, staleMs)
      this.#beats++
      // The others have taken this one for dead, or Redis has lost what it had.
      if (isNew === 1 && this.#beats > 1) await this.#enterAgain()
      for (const instance of stale) await this.#bury(instance)
      if (this.#beats % refreshEvery === 0) await this.#refresh()
    } catch (error) {
      this.#around.failed(error)
    }
  }

  async #refresh(): Promise<void> {
    await this.#redis.pexpire(this.#channelsOf(this.#instance), keptMs)
    for (const name of this.#own.keys()) await this.#redis.pexpire(this.#keyOf(name), keptMs)
  }

  async #enterAgain(): Promise<void> {
    for (const [name, all] of this.#own) for (const present of all.values()) await this.#write(name, present)
  }

  async #bury(instance: string): Promise<void> {
    // Of several that have noticed, one does it.
    if ((await this.#redis.zrem(this.#instances, instance)) === 0) return
    for (const name of await this.#redis.smembers(this.#channelsOf(instance))) {
      const all = await this.#redis.hgetall(this.#keyOf(name))
      for (const [id, text] of Object.entries(all)) {
        if ((JSON.parse(text) as { instance: string }).instance === instance) await this.#take(name, id)
      }
    }
    await this.#redis.del(this.#channelsOf(instance))
  }

  async enter(name: string, present: Present): Promise<void> {
    const all = this.#own.get(name) ?? new Map<string, Present>()
    this.#own.set(name, all)
    all.set(present.id, present)
    await this.#write(name, present)
  }

  async #write(name: string, present: Present): Promise<void> {
    const key = this.#keyOf(name)
    await this.#redis.sadd(this.#channelsOf(this.#instance), name)
    await this.#redis.pexpire(this.#channelsOf(this.#instance), keptMs)
    await this.#redis.hset(key, present.id, JSON.stringify({ instance: this.#instance, present }))
    await this.#redis.pexpire(key, keptMs)
    await this.#around.tell(name, JSON.stringify({ id: present.id, present }))
  }

  async exit(name: string, id: string): Promise<void> {
    const all = this.#own.get(name)
    all?.delete(id)
    if (all?.size === 0) {
      this.#own.delete(name)
      await this.#redis.srem(this.#channelsOf(this.#instance), name)
    }
    await this.#take(name, id)
  }

  async #take(name: string, id: string): Promise<void> {
    await this.#redis.hdel(this.#keyOf(name), id)
    await this.#around.tell(name, JSON.stringify({ id }))
  }

  async of(name: string): Promise<readonly Present[]> {
    const [all, instances] = await Promise.all([
      this.#redis.hgetall(this.#keyOf(name)),
      this.#redis.zrange(this.#instances, 0, -1),
    ])
    const alive = new Set([...instances, this.#instance])
    return Object.values(all).flatMap((text) => {
      const { instance, present } = JSON.parse(text) as { instance: string; present: Present }
      return alive.has(instance) ? [present] : []
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    try {
      await this.#redis.zrem(this.#instances, this.#instance)
      await this.#redis.del(this.#channelsOf(this.#instance))
    } catch {
      // The others notice by its silence.
    }
  }
}
