import { followChannel, together } from '../shared/development/held-channel.ts'
import { isOwnCommand } from '../shared/stores/redis-client.ts'
import type { Activity } from './activities.ts'
import { copied, type Recorder } from './recorder.ts'

/** What ioredis 5.11 and node-redis 5.12 report about a command. */
interface CommandEvent {
  readonly command: string
  /** The arguments, with `?` in place of most values; those of node-redis begin with the name of the command. */
  readonly args: readonly string[]
  readonly database: number
  readonly serverAddress: string
  readonly serverPort: number | undefined
  readonly error?: unknown
}

/** Commands whose arguments are all keys, or a key and names of fields. */
const areKeys =
  /^(?:[PZS]?(?:UN)?SUBSCRIBE|M?GET|DEL|GETDEL|UNLINK|EXISTS|TOUCH|WATCH|RENAME|RENAMENX|[SZ]?(?:INTER|UNION|DIFF)(?:STORE)?|H(?:M?GET|DEL|EXISTS|STRLEN)|PFCOUNT|PFMERGE)$/

/** The arguments that are keys. The drivers pass on values of some commands, such as those of a script, or the password of `CONFIG SET`. */
function keysOf(command: string, args: readonly string[]): readonly string[] {
  const isScript = /^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/.test(command)
  const count = Number(args[1])
  // With a number that is too large, which Redis refuses, values would count as keys.
  const end = count <= args.length - 2 ? 2 + count : 2
  const keys = isScript ? args.slice(2, end) : args.slice(0, areKeys.test(command) ? 100 : 1)
  return keys.filter((key) => key !== '?')
}

/** How often the same command within one piece of work is worth a remark, as for queries. */
const repeats = 5
/** The part of a key that differs between things of one kind: `user:17`. Of a long key, which a client may have chosen, the time grows with its square. */
const differing = /[^:.]*\d[^:.]*/g

/**
 * Follows the commands that the application sends to Redis; returns the function that ends this. Those of the framework's own clients are
 * left out: a session or a rate limit sends some with each request, and an idle queue all the time.
 */
export function followRedis(recorder: Recorder): () => void {
  const { activities, current, redactor } = recorder
  activities.addList({ id: 'redis', title: 'Redis commands' })
  const follow = (driver: string) => {
    const own = Symbol(driver)
    type Followed = CommandEvent & { [own]?: { readonly activity: Activity; readonly kind: string } }
    return [
      followChannel(`tracing:${driver}:command:start`, (event: Followed) => {
        const { database, serverAddress, serverPort } = event
        const command = event.command.toUpperCase()
        const args = driver === 'ioredis' ? event.args : event.args.slice(1)
        // Each connection says which package it is. A Redis before 7.2 does not take that, and the packages do not mind.
        if (isOwnCommand() || (command === 'CLIENT' && /^setinfo$/i.test(args[0]!))) return
        const keys = keysOf(command, args)
        const server = serverPort === undefined ? serverAddress : `${serverAddress}:${serverPort}`
        const title = redactor.text([command, ...keys, ...(keys.length < args.length ? ['…'] : [])].join(' '), 2_048)
        const from = current.getStore()
        const { data, size } = copied(recorder.hiding(from, { title, data: { command, server, database } }))
        const activity = activities.begin({ kind: 'redis', group: `Redis at redis://${server}`, ...data }, from, size)
        event[own] = { activity, kind: `${command} ${keys[0]?.slice(0, 200).replace(differing, '*')}` }
      }),
      followChannel(`tracing:${driver}:command:asyncEnd`, (event: Followed) => {
        if (event[own] === undefined) return
        const { activity, kind } = event[own]
        if (event.error !== undefined) recorder.failed(activity, event.error)
        recorder.noteRepeats(activity, kind, repeats)
        activities.end(activity, event.error === undefined ? 'ok' : 'failed')
      }),
    ]
  }
  return together(['ioredis', 'node-redis'].flatMap(follow))
}
