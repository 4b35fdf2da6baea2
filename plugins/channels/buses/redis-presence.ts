import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { type Logger, systemClock, type Timer } from '../../../kernel/index.ts'
import { madeIn } from '../../shared/values/memoize.ts'

/** A client with the scripts of presence. */
export type RedisCommands = Redis & {
  channelBeat(key: string, instance: string, staleMs: number, keptMs: number): Promise<[isNew: number, stale: string[]]>
  /** Removes an entry only if it is still the given one: its client may have reconnected meanwhile. */
  channelTake(key: string, id: string, text: string, channel: string, notice: string): Promise<number>
}

import type { PresentClient } from './contract.ts'

/** How often an instance refreshes its entry, and after how long without a refresh the others consider it dead. */
const beatMs = 5_000
const staleMs = 15_000

/** Entries that no instance has refreshed for this long are removed: all instances are gone. */
const keptMs = 24 * 60 * 60 * 1_000
const refreshEvery = 720

const beat = readFileSync(new URL('./redis/beat.lua', import.meta.url), 'utf8')

const take = readFileSync(new URL('./redis/take.lua', import.meta.url), 'utf8')

/**
 * Keeps the clients of each channel, on all instances: a hash per channel, with each client and its instance. Entries of a dead instance
 * are ignored, and one of the other instances removes them.
 */
export class RedisPresence {
  readonly #redis: RedisCommands
  readonly #prefix: string
  /** The key of the living instances. */
  readonly #instances: string
  readonly #space: string
  readonly #log: Logger
  #instance = randomUUID()
  readonly #own = new Map<string, Map<string, PresentClient>>()
  #timer: Timer | undefined
  #beats = 0
  /** Whether Redis may lack some data of this instance. */
  #isDoubtful = false
  /** Clients that left while Redis did not respond: by channel, their ids and stored entries. */
  readonly #left = new Map<string, Map<string, string>>()

  /** `space` is the prefix of pub/sub names. */
  constructor(redis: RedisCommands, prefix: string, space: string, log: Logger) {
    this.#redis = redis
    this.#prefix = prefix
    this.#instances = `${prefix}:instances`
    this.#space = space
    this.#log = log
    redis.defineCommand('channelBeat', { numberOfKeys: 1, lua: beat })
    redis.defineCommand('channelTake', { numberOfKeys: 1, lua: take })
  }

  #keyOf(name: string): string {
    return `${this.#prefix}:{${name}}:present`
  }

  #channelsOf(instance: string): string {
    return `${this.#prefix}:instance:${instance}`
  }

  start(): void {
    this.#timer = systemClock.setInterval(() => void this.#beat(), beatMs)
    this.#timer.unref()
    void this.#beat()
  }

  async #beat(): Promise<void> {
    try {
      const [isNew, stale] = await this.#redis.channelBeat(this.#instances, this.#instance, staleMs, keptMs)
      this.#beats++
      const isForgotten = isNew === 1 && this.#beats > 1
      // The others considered this instance dead and may still be removing its entries, or Redis has lost them.
      if (isForgotten) this.#instance = randomUUID()
      if (isForgotten) await this.#redis.channelBeat(this.#instances, this.#instance, staleMs, keptMs)
      if (isForgotten || this.#isDoubtful) await this.#enterAgain()
      for (const instance of stale) if (instance !== this.#instance) await this.#bury(instance)
      if (this.#beats % refreshEvery === 0) await this.#refresh()
    } catch (error) {
      this.#isDoubtful = true
      this.#log.warn({ err: error }, 'the presence of channels in Redis failed; it is retried')
    }
  }

  /** Called when Redis is available again, perhaps without its former data. */
  resumed(): Promise<void> {
    this.#isDoubtful = true
    return this.#beat()
  }

  async #refresh(): Promise<void> {
    await this.#redis.pexpire(this.#channelsOf(this.#instance), keptMs)
    for (const name of this.#own.keys()) await this.#redis.pexpire(this.#keyOf(name), keptMs)
  }

  async #enterAgain(): Promise<void> {
    this.#isDoubtful = false
    for (const [name, all] of this.#left) {
      for (const [id, text] of all) {
        await this.#take(name, id, text)
        all.delete(id)
      }
      this.#left.delete(name)
    }
    for (const [name, all] of this.#own) for (const present of all.values()) await this.#write(name, present)
  }

  async #bury(instance: string): Promise<void> {
    // Of several instances that notice a dead one, only one removes its entries.
    if ((await this.#redis.zrem(this.#instances, instance)) === 0) return
    for (const name of await this.#redis.smembers(this.#channelsOf(instance))) {
      for (const [id, text] of Object.entries(await this.#redis.hgetall(this.#keyOf(name)))) {
        if ((JSON.parse(text) as { instance: string }).instance === instance) await this.#take(name, id, text)
      }
    }
    await this.#redis.del(this.#channelsOf(instance))
  }

  async enter(name: string, present: PresentClient): Promise<void> {
    madeIn(this.#own, name, () => new Map<string, PresentClient>()).set(present.id, present)
    await this.#doubted(() => this.#write(name, present))
  }

  /** Sends all commands together: if the client left between two of them, the second would undo that. */
  async #write(name: string, present: PresentClient): Promise<void> {
    const key = this.#keyOf(name)
    await Promise.all([
      this.#redis.sadd(this.#channelsOf(this.#instance), name),
      this.#redis.pexpire(this.#channelsOf(this.#instance), keptMs),
      this.#redis.hset(key, present.id, this.#textOf(present)),
      this.#redis.pexpire(key, keptMs),
      this.#redis.publish(this.#space + name, `p${JSON.stringify({ id: present.id, present })}`),
    ])
  }

  #textOf(present: PresentClient): string {
    return JSON.stringify({ instance: this.#instance, present })
  }

  async exit(name: string, id: string): Promise<void> {
    const all = this.#own.get(name)
    const present = all?.get(id)
    if (present === undefined) return
    all!.delete(id)
    const text = this.#textOf(present)
    const isLast = all!.size === 0
    if (isLast) this.#own.delete(name)
    const leave = () => {
      const taken = this.#take(name, id, text)
      return Promise.all(isLast ? [taken, this.#redis.srem(this.#channelsOf(this.#instance), name)] : [taken])
    }
    await this.#doubted(leave, () => madeIn(this.#left, name, () => new Map<string, string>()).set(id, text))
  }

  /** A failed change is repeated with the next beat. */
  async #doubted(change: () => Promise<unknown>, failed?: () => void): Promise<void> {
    try {
      await change()
    } catch (error) {
      failed?.()
      this.#isDoubtful = true
      throw error
    }
  }

  #take(name: string, id: string, text: string): Promise<unknown> {
    return this.#redis.channelTake(this.#keyOf(name), id, text, this.#space + name, `p${JSON.stringify({ id })}`)
  }

  async of(name: string): Promise<readonly PresentClient[]> {
    const [all, instances] = await Promise.all([
      this.#redis.hgetall(this.#keyOf(name)),
      this.#redis.zrange(this.#instances, 0, '-1'),
    ])
    const alive = new Set(instances)
    const others = Object.values(all).flatMap((text) => {
      const { instance, present } = JSON.parse(text) as { instance: string; present: PresentClient }
      return alive.has(instance) && instance !== this.#instance ? [present] : []
    })
    // The clients of this instance come from its own memory: Redis may have lost them and not have received them again yet.
    const own = this.#own.get(name) ?? new Map<string, PresentClient>()
    return [...others.filter(({ id }) => !own.has(id)), ...own.values()]
  }

  async close(): Promise<void> {
    systemClock.clear(this.#timer)
    const left = [this.#redis.zrem(this.#instances, this.#instance), this.#redis.del(this.#channelsOf(this.#instance))]
    // The other instances notice the silence of this one.
    await Promise.allSettled(left)
  }
}
