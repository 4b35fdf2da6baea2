import { mqttMessages } from '../../plugins/mqtt/index.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { quoted, refusal, wrongUsage } from '../failure.ts'
import { type Names, namesOf } from './names.ts'

/**
 * A topic filter for the broker, with names for its file and exports: `sensors/+/temperature` is
 * `sensors-any-temperature`, `rooms/#` is `rooms-all`.
 *
 * @throws CommandFailure for a filter that brokers refuse, and for one without a letter from which to make a name.
 */
export function readTopic(topic: string, name: string | undefined) {
  try {
    mqttMessages.topic(topic)
  } catch (error) {
    throw refusal(error)
  }
  const levels = topic.split('/')
  const filter = levels[0] === '$share' ? levels.slice(2) : levels
  return {
    names: name === undefined ? namesOfTopic(topic) : namesOf(name, 'topic'),
    /** The topic as it was typed. */
    topic,
    /** Whether it has a wildcard: its handler receives the topic. */
    isPattern: filter.some((level) => level === '+' || level === '#'),
    /** The topic without `$share/<group>/`. */
    filter: filter.join('/'),
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
  // Words may not be a name: with a leading digit, for example, or as a reserved word.
  return safely(() => namesOf(words, kind)) ?? namesOf(`topic-${words}`, kind)
}

/** The kind, which contains a space so that it does not equal any word of a topic. */
const kind = 'MQTT topic'
