import { didYouMean, type Kernel, OptionError } from '../../../kernel/index.ts'
import { type BackendOptions, backendsOf } from '../../shared/stores/backends.ts'
import { ServiceDown } from '../../shared/stores/breaker.ts'
import { Outage, type OutageKind, type OutageOptions } from './outage.ts'

/** Why a call fails, with the code that a client of the network has for it. */
const reasons = {
  down: ['ECONNREFUSED', 'the connection is refused'],
  slow: ['ETIMEDOUT', 'there is no response'],
  cut: ['ECONNRESET', 'the connection broke before the response'],
  lies: ['EPROTO', 'the response is garbage'],
} as const

/** What must work for a server to close. */
const closing = ['constructor', 'close', 'end', 'disconnect']

/**
 * Begins an outage of an object that stands for a service: a store, a provider or a transport, in memory or of your own. Each of its methods then
 * rejects as a call to that service does, except those that close it. With `cut` it does its work before that.
 *
 * @throws OptionError.
 * @example
 * const outbox = memoryTransport()
 * using down = outage(outbox, 'down')
 */
export function outage(target: object, kind: OutageKind, options?: OutageOptions): Outage {
  if (Object(target) !== target || methodsOf(target).length === 0)
    throw OptionError('outage', target, 'an object with methods, such as a store or a transport')
  return breakObject(target, new Outage(kind, options), {})
}

/** The outage of each object that has one. */
const present = new WeakMap<object, Outage>()

function breakObject(target: object, outage: Outage, of: BackendOptions): Outage {
  const { methods: names, limit, failure, fallback } = of
  // Two providers may share a transport.
  if (present.get(target) === outage) return outage
  present.get(target)?.restore()
  present.set(target, outage)
  outage.whenOver(() => present.delete(target))
  const { kind } = outage
  const [code, why] = reasons[kind]
  const fail = (args: readonly unknown[]) =>
    failure?.(why, args) ?? Object.assign(new ServiceDown(`${why} (${code}, an outage of the test)`), { code })
  const methods = target as Record<string, (...args: unknown[]) => unknown>
  for (const name of names ?? methodsOf(target)) {
    const isOwn = Object.hasOwn(target, name)
    const method = methods[name]!
    const run = async (args: unknown[]) => {
      const work = () => method.apply(target, args)
      if (kind === 'cut' && fallback === undefined) await work()
      if (kind === 'slow' && (await outage.isInTime(limit))) return work()
      if (fallback !== undefined) return fallback(work, args)
      throw fail(args)
    }
    const value = (...args: unknown[]) => {
      const call = run(args)
      // Not every caller waits for what is immediate in memory.
      call.catch(() => {})
      // A list is read as it comes.
      const iterate = async function* () {
        yield* (await call) as AsyncIterable<unknown>
      }
      return Object.assign(call, { [Symbol.asyncIterator]: iterate })
    }
    methods[name] = value
    outage.whenOver(() => (isOwn ? Reflect.set(target, name, method) : Reflect.deleteProperty(target, name)))
  }
  return outage
}

function methodsOf(target: object): string[] {
  const names = new Set<string>()
  for (let one = target; one !== null && one !== Object.prototype; one = Object.getPrototypeOf(one))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(one)))
      if (typeof value === 'function' && !closing.includes(name)) names.add(name)
  return [...names]
}

/**
 * Begins an outage of what a plugin of a server depends on, whether that is in memory or another program: `cache`, `session`, `rateLimit`, `locks`,
 * `channels`, `queues`, `storage`, `mailer`, `mqtt`, and plugins that announce it with `announceBackend`.
 *
 * @throws OptionError for a plugin that depends on nothing, and before the server has booted.
 * @example
 * await server.ready()
 * using down = outageOf(server, 'session', 'down')
 */
export function outageOf(server: Kernel, plugin: string, kind: OutageKind, options?: OutageOptions): Outage {
  const all = backendsOf(server)
  const names = [...new Set(all.map((one) => one.plugin))]
  const takes = `a plugin of a booted server that depends on something: ${names.join(', ') || 'there is none'}.${didYouMean(plugin, names)}`
  if (!names.includes(plugin)) throw OptionError('outageOf', plugin, takes)
  const begun = new Outage(kind, options)
  for (const one of all) if (one.plugin === plugin) breakObject(one.object, begun, one)
  return begun
}
