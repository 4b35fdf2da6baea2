import { mqttMessages } from '../../plugins/mqtt/index.ts'
import { quoted, wrongUsage } from '../failure.ts'
import { type Names, namesOf } from './names.ts'
import { refusal } from './refusal.ts'

/** The data of a topic for its file. */
export interface Topic {
  readonly names: Names
  /** The topic as it was typed. */
  readonly topic: string
  /** Whether it has a wildcard: its handler receives the topic. */
  readonly isPattern: boolean
  /** The topic without `$share/<group>/`. */
  readonly filter: string
}

/**
 * A topic filter for the broker, with names for its file and exports: `sensors/+/temperature` is
 * `sensors-any-temperature`, `rooms/#` is `rooms-all`.
 *
 * @throws CommandFailure for a filter that brokers refuse, and for one without a letter from which to make a name.
 */
export function readTopic(topic: string, name: string | undefined): Topic {
  checkTopic(topic)
  const levels = topic.split('/')
  const filter = levels[0] === '$share' ? levels.slice(2) : levels
  return {
    names: name === undefined ? namesOfTopic(topic) : namesOf(name, 'topic'),
    topic,
    isPattern: filter.some((level) => level === '+' || level === '#'),
    filter: filter.join('/'),
  }
}

function checkTopic(topic: string): void {
  try {
    mqttMessages.topic(topic)
  } catch (error) {
    throw refusal(error)
  }
}

function namesOfTopic(topic: string): Names {
  const words = topic
    .split('/')
    .map((level) => (level === '+' ? 'any' : level === '#' ? 'all' : level))
    .join('-')
    // Letters with marks become letters without, `küche` becomes `kuche`: the name of a file is then the same on every system.
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  // A level in another script would be lost.
  const isLost = topic
    .split('/')
    .some((level) => /[\p{L}\p{N}]/u.test(level) && !/[A-Za-z0-9\p{Script=Latin}]/u.test(level))
  if (isLost || words === '' || words.length > 70) {
    throw wrongUsage(`the topic ${quoted(topic)} cannot be turned into a file name: pass one with --name <name>`)
  }
  return isName(words) ? namesOf(words, kind) : namesOf(`topic-${words}`, kind)
}

/** The kind, which contains a space so that it does not equal any word of a topic. */
const kind = 'MQTT topic'

/** Whether the words can be a name: one without a leading digit, for example, and not a reserved word. */
function isName(words: string): boolean {
  try {
    namesOf(words, kind)
    return true
  } catch {
    return false
  }
}
