import { optional } from '../environment/variables.ts'
import type { Names } from '../names.ts'
import { decoratorNotes, globOf, importPath, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { literal, moduleAndTest, propertyName } from '../source.ts'

/** The data of a topic for its file. */
export interface TopicSettings {
  /** The topic as it was typed. */
  readonly topic: string
  /** Whether it has a wildcard: its handler receives the topic. */
  readonly isPattern: boolean
  /** The topic without `$share/<group>/`. */
  readonly filter: string
  /** Whether it is a method of a class. */
  readonly asClass: boolean
}

/** A subscriber of a topic. */
export function mqtt(place: Place, { kebab, pascal }: Names, settings: TopicSettings): Scaffold {
  const { topic, isPattern, filter, asClass } = settings
  // The broker's own topics have plain text, and no other client publishes to them.
  const isOfBroker = filter.startsWith('$')
  const values = {
    kebab,
    className: `${pascal}Mqtt`,
    topic: literal(topic),
    key: propertyName(filter),
    sample: literal(sampleOf(filter)),
    isPattern,
    isOfBroker,
    asClass,
  }
  const subscribe = place.folder === 'src/mqtt' ? '' : `, subscribe: ['${globOf(place)}']`
  return {
    files: moduleAndTest(place, kebab, 'mqtt', values),
    packages: ['mqtt'],
    next: [
      `In ${place.server}, unless it is there already; the files of the folder are loaded when the server listens:`,
      `  import { env } from '${importPath(place, place.env)}'`,
      `  const url = env.get('MQTT_URL')`,
      `  new Server({ plugins: { mqtt: { connect: url === undefined ? { provider: 'memory' } : { url }${subscribe} } } })`,
      'Without MQTT_URL the broker is one within the process, which needs no package.',
      ...(asClass ? decoratorNotes(place) : []),
    ],
    variables: [optional('MQTT_URL', 'mqtt://localhost:1883')],
  }
}

/** A topic that the filter matches. */
const sampleOf = (filter: string) =>
  filter
    .split('/')
    .map((level) => (level === '+' ? 'one' : level === '#' ? 'one/two' : level))
    .join('/')
