import { ownCommand } from '../run/own-command.ts'
import { mqtt } from '../scaffold/kinds/mqtt.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

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
    const { names, ...topic } = readTopic(input.arguments.topic, input.flags.name)
    scaffold(input, 'mqtt', (place) => mqtt(place, names, { ...topic, asClass: input.flags.class }))
  },
})
