import { MqttTopicError } from '../errors.ts'

/** A parsed topic filter. */
export interface Filter {
  /** The filter as the broker receives it, with `$share/<group>/`. */
  readonly text: string
  /** Whether it has a wildcard, so that its handlers also receive the topic. */
  readonly isPattern: boolean
  /** The part that the broker compares with topics, split into levels. */
  readonly levels: readonly string[]
}

/** MQTT 5 section 1.5.4: the length of a string has 16 bits. */
const longest = 65_535

function shown(name: unknown): string {
  if (typeof name !== 'string')
    return `(${name === null || name === undefined ? name : `a value of type ${typeof name}`})`
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
}

/** What violates the rules that names and filters share (section 4.7.3). */
function problemOf(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'is not a string'
  if (name === '') return 'is empty'
  if (name.includes('\0')) return 'has a NUL character'
  if (/\p{Cs}/u.test(name)) return 'has an unpaired surrogate, which UTF-8 cannot encode'
  const bytes = name.length * 3 <= longest ? 0 : Buffer.byteLength(name)
  return bytes > longest ? `is ${bytes} bytes long; MQTT allows ${longest}` : undefined
}

/** Why a topic name cannot be published to. */
export function topicProblem(name: unknown): string | undefined {
  const hasWildcard = typeof name === 'string' && /[+#]/.test(name)
  return problemOf(name) ?? (hasWildcard ? 'has a wildcard: a message is published to exactly one topic' : undefined)
}

/**
 * Returns the name of a topic to publish to.
 *
 * @throws MqttTopicError
 */
export function checkTopic(name: unknown): string {
  const problem = topicProblem(name)
  if (problem !== undefined) throw MqttTopicError(`the topic ${shown(name)}`, problem)
  return name as string
}

/** Why brokers refuse a topic filter. */
export function filterProblem(text: unknown): string | undefined {
  const problem = problemOf(text)
  if (problem !== undefined) return problem
  const all = (text as string).split('/')
  if (all[0] === '$share') {
    // Section 4.8.2.
    if (all[1] === undefined || all[1] === '' || /[+#]/.test(all[1]))
      return 'needs a group without wildcards: "$share/<group>/<filter>"'
    if (all.length < 3 || (all.length === 3 && all[2] === ''))
      return 'has no filter after the group: "$share/<group>/<filter>"'
  }
  const levels = levelsOf(all)
  for (const [i, level] of levels.entries()) {
    if (level === '#' && i < levels.length - 1) return 'has levels after "#", which matches all further levels'
    const sign = ['+', '#'].find((one) => level !== one && level.includes(one))
    if (sign !== undefined) return `has a "${sign}" next to other characters: it must be a whole level`
  }
  return undefined
}

const levelsOf = (all: readonly string[]) => (all[0] === '$share' ? all.slice(2) : all)

/**
 * Reads a topic filter.
 *
 * @throws MqttTopicError for a filter that brokers refuse.
 */
export function parseFilter(text: unknown): Filter {
  const problem = filterProblem(text)
  if (problem !== undefined) throw MqttTopicError(`the subscription ${shown(text)}`, problem)
  const levels = levelsOf((text as string).split('/'))
  return { text: text as string, levels, isPattern: levels.some((level) => level === '+' || level === '#') }
}

/** Whether a topic matches a filter, both split into levels. */
export function matches(filter: readonly string[], topic: readonly string[]): boolean {
  const first = filter[0]!
  // Section 4.7.2: wildcards at the beginning do not match `$SYS` and the like.
  if ((first === '+' || first === '#') && topic[0]!.startsWith('$')) return false
  for (let i = 0; i < filter.length; i++) {
    const level = filter[i]
    if (level === '#') return true
    // `a/#` includes `a` as well.
    if (i === topic.length) return false
    if (level !== '+' && level !== topic[i]) return i === topic.length
  }
  return filter.length === topic.length
}
