import { ownCommand } from '../run/own-command.ts'
import { optional } from '../scaffold/environment/variables.ts'
import { decoratorNotes, globOf, importPath } from '../scaffold/place.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'
import { literal, moduleAndTest, propertyName } from '../scaffold/source.ts'

export const generateMqtt = ownCommand({
  details: `Writes src/mqtt/<name>.ts, which is loaded when the server listens: the type of the messages and a subscriber; and a test
on a broker in memory. The name is derived from the topic.`,
  arguments: [
    { name: 'topic', description: "The topic of the subscription: 'sensors/+/temperature', 'rooms/#'", required: true },
  ],
  flags: {
    name: { type: 'string', value: 'name', description: 'The name of the file and of its export' },
    class: { type: 'boolean', description: 'Writes a method of a class' },
    ...generateFlags,
  },
  async run(input) {
    // Loaded late: it imports the rules for topics from the mqtt plugin.
    const { readTopic } = await import('../scaffold/topic.ts')
    const { names, topic, isPattern, filter } = readTopic(input.arguments.topic, input.flags.name)
    const asClass = input.flags.class
    const values = {
      kebab: names.kebab,
      className: `${names.pascal}Mqtt`,
      topic: literal(topic),
      key: propertyName(filter),
      sample: literal(sampleOf(filter)),
      isPattern,
      // The broker's own topics have plain text, and no other client publishes to them.
      isOfBroker: filter.startsWith('$'),
      asClass,
    }
    scaffold(input, 'mqtt', (place) => {
      const subscribe = place.folder === 'src/mqtt' ? '' : `, subscribe: ['${globOf(place)}']`
      return {
        files: moduleAndTest(place, names.kebab, 'mqtt', values),
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
    })
  },
})

/** A topic that the filter matches. */
const sampleOf = (filter: string) =>
  filter
    .split('/')
    .map((level) => (level === '+' ? 'one' : level === '#' ? 'one/two' : level))
    .join('/')
