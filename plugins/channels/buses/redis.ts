import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import type { Logger } from '../../../kernel/index.ts'
import { Breaker } from '../../shared/stores/breaker.ts'
import { connectRedis } from '../../shared/stores/redis-client.ts'
import type { ChannelsRedisSettings } from '../options.ts'
import {
  type Bus,
  type BusEvents,
  type Entry,
  emptyReplay,
  type Keeping,
  nothingYet,
  type PresentClient,
  partsOf,
  type Replay,
} from './contract.ts'
import { type RedisCommands, RedisPresence } from './redis-presence.ts'

/** The longest time that a client waits for its channel. */
const commandTimeout = 2_000

/** How long the numbers of a channel outlive its last message. After that, the channel begins another epoch. */
const numbersMs = 7 * 24 * 60 * 60 * 1_000

/** The number of names that one command subscribes to after a lost connection. */
const atOnce = 500

const publish = readFileSync(new URL('./redis/publish.lua', import.meta.url), 'utf8')

const read = readFileSync(new URL('./redis/read.lua', import.meta.url), 'utf8')

/** A client with the scripts of channels. */
type Commands = RedisCommands & {
  channelPublish(...given: (string | number)[]): Promise<string>
  channelRead(
    ...given: (string | number)[]
  ): Promise<
    [epoch: string, number: string, now: number, entries: [id: string, fields: string[]][], removedMs: number] | null
  >
}

const newEpoch = () => randomBytes(6).toString('hex')

/** Carries messages between instances through a Redis. Two connections serve any number of channels: one listens, one sends commands. */
export class RedisBus implements Bus {
  readonly key: string
  readonly #settings: ChannelsRedisSettings
  readonly #log: Logger
  readonly #subscribed = new Set<string>()
  readonly #breaker: Breaker
  #events: BusEvents | undefined
  #commands!: Commands
  #subscriber: Redis | undefined
  #presence!: RedisPresence
  /** The prefix of pub/sub names: all databases of a Redis share them, and key prefixes do not apply to them. */
  #space = ''

  constructor(settings: ChannelsRedisSettings, log: Logger) {
    this.#settings = settings
    this.#log = log
    this.key = `redis ${JSON.stringify(settings)}`
    this.#breaker = new Breaker({
      name: 'the Redis of the channels',
      probe: () => Promise.all([this.#commands.ping(), this.#subscriber?.ping()]),
      onChange: (state, err) => {
        if (state === 'up') log.warn('the Redis of the channels responds again')
        else
          log.error({ err }, 'the Redis of the channels does not respond: until it does, joining and publishing fail')
      },
    })
  }

  async open(events: BusEvents): Promise<void> {
    const { prefix, ...address } = this.#settings
    const feature = 'the channels plugin (store redis)'
    this.#events = events
    this.#commands = (await connectRedis(address, { feature, commandTimeout })) as unknown as Commands
    this.#commands.defineCommand('channelPublish', { numberOfKeys: 2, lua: publish })
    this.#commands.defineCommand('channelRead', { numberOfKeys: 2, lua: read })
    const { db = 0, keyPrefix = '' } = this.#commands.options
    this.#space = `${keyPrefix}${prefix}:${db}:`
    this.#presence = new RedisPresence(this.#commands, prefix, this.#space, this.#log)
    this.#subscriber = await connectRedis(
      // Subscriptions are restored by this class, so that it knows when they are.
      { ...address, autoResubscribe: false },
      {
        feature,
        commandTimeout,
        onState: (error) => {
          if (error === undefined) {
            // Not for the first connection, which has no subscriptions yet.
            if (this.#subscriber !== undefined) void this.#resubscribe()
          } else this.#breaker.failed(error)
        },
      },
    )
    this.#subscriber.on('message', (channel, text) => {
      const name = channel.slice(this.#space.length)
      try {
        this.#read(name, text)
      } catch (error) {
        // A throw would end the process. The next message shows that this one is missing.
        this.#log.error({ err: error, channel: name }, 'Redis delivered something that is not a message of a channel')
      }
    })
    this.#presence.start()
  }

  async #resubscribe(): Promise<void> {
    try {
      const names = [...this.#subscribed]
      for (let i = 0; i < names.length; i += atOnce)
        await this.#subscriber!.subscribe(...names.slice(i, i + atOnce).map((name) => this.#space + name))
      await this.#presence.resumed()
      this.#events?.resumed()
    } catch (error) {
      // The connection was lost again, or hangs: this is repeated when it is next ready.
      this.#log.warn({ err: error }, 'channels could not be resubscribed in Redis')
    }
  }

  #read(name: string, text: string): void {
    if (text[0] === 'p') {
      const { id, present } = JSON.parse(text.slice(1)) as { id: string; present?: PresentClient }
      this.#events?.present(name, id, present)
      return
    }
    const idEnd = text.indexOf('\n')
    const metaEnd = text.indexOf('\n', idEnd + 1)
    const id = text.slice(1, idEnd)
    if (text[0] !== 'm' || partsOf(id) === undefined)
      throw new Error(`it begins with ${JSON.stringify(text.slice(0, 50))}`)
    this.#events?.entry(name, entryOf(id, text.slice(idEnd + 1, metaEnd), text.slice(metaEnd + 1)))
  }

  async subscribe(name: string): Promise<void> {
    // Added before subscribing has finished: a client that leaves immediately removes it again.
    this.#subscribed.add(name)
    await this.#breaker.run(() => this.#subscriber!.subscribe(this.#space + name))
  }

  async unsubscribe(name: string): Promise<void> {
    this.#subscribed.delete(name)
    await this.#subscriber!.unsubscribe(this.#space + name)
  }

  #keysOf(name: string): [numbers: string, history: string] {
    const key = `${this.#settings.prefix}:{${name}}`
    return [`${key}:numbers`, `${key}:history`]
  }

  publish(name: string, message: Omit<Entry, 'id'>, { messages, bytes, ms }: Keeping): Promise<string> {
    const { body, kind, to, except, author } = message
    const meta =
      kind === 'message' && (to ?? except ?? author) === undefined ? '' : JSON.stringify({ kind, to, except, author })
    const keptMs = Math.max(numbersMs, ms)
    const given = [...this.#keysOf(name), this.#space + name, meta, body, messages, ms, newEpoch(), keptMs, bytes, kind]
    return this.#breaker.run(() => this.#commands.channelPublish(...given))
  }

  async after(name: string, id?: string, whose?: 'own'): Promise<Replay> {
    const seen = id === undefined ? undefined : partsOf(id)
    const number = seen?.number ?? 0
    const place = [
      seen?.epoch ?? '',
      id === undefined ? '' : number,
      // Lua would write large numbers with an exponent.
      number + 1,
      whose === 'own' ? newEpoch() : '',
      whose === 'own' || id === nothingYet ? 'whole' : '',
    ]
    const response = await this.#breaker.run(() => this.#commands.channelRead(...this.#keysOf(name), ...place))
    if (response === null) return emptyReplay(nothingYet, id)
    const [epoch, last, now, all, removed] = response
    // 2 ms are subtracted for the rounding error of Redis's clock.
    const rest = { last: `${epoch}-${last}`, removedMs: removed < 0 ? Number.POSITIVE_INFINITY : removed - 2 }
    if (id === undefined) return { entries: [], isComplete: true, ...rest }
    const entries = all.flatMap(([place, [, meta, , body, , end]]) =>
      Number(end) <= now ? [] : [entryOf(`${epoch}-${place.slice(0, -2)}`, meta!, body!)],
    )
    const isOfEpoch = seen?.epoch === epoch || id === nothingYet
    return { entries, isComplete: isOfEpoch && entries.length === Number(last) - number, ...rest }
  }

  enter(name: string, present: PresentClient): Promise<void> {
    return this.#presence.enter(name, present)
  }

  exit(name: string, id: string): Promise<void> {
    return this.#presence.exit(name, id)
  }

  present(name: string): Promise<readonly PresentClient[]> {
    return this.#breaker.run(() => this.#presence.of(name))
  }

  check(): Promise<void> {
    return this.#breaker.check()
  }

  async close(): Promise<void> {
    this.#events = undefined
    this.#breaker.stop()
    await this.#presence?.close()
    this.#subscriber?.disconnect()
    this.#commands?.disconnect()
  }
}

const entryOf = (id: string, meta: string, body: string): Entry =>
  meta === '' ? { id, body, kind: 'message' } : { ...(JSON.parse(meta) as Pick<Entry, 'kind'>), id, body }
