import { packageName } from '../../package.ts'
import { optional } from '../environment/variables.ts'
import type { Names } from '../names.ts'
import { decoratorNotes, globOf, importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { imports, literal, propertyName } from '../source.ts'

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
  const parts = { ...settings, className: `${pascal}Mqtt`, isOfBroker: settings.filter.startsWith('$') }
  const subscribe = place.folder === 'src/mqtt' ? '' : `, subscribe: ['${globOf(place)}']`
  return {
    files: [
      { path: inFolder(place, `${kebab}.ts`), text: source(parts) },
      { path: inFolder(place, `${kebab}.test.ts`), text: test(place.testModule, kebab, parts) },
    ],
    packages: ['mqtt'],
    next: [
      `In ${place.server}, unless it is there already; the files of the folder are loaded when the server listens:`,
      `  import { env } from '${importPath(place, place.env)}'`,
      `  const url = env.get('MQTT_URL')`,
      `  new Server({ plugins: { mqtt: { connect: url === undefined ? { provider: 'memory' } : { url }${subscribe} } } })`,
      'Without MQTT_URL the broker is one within the process, which needs no package.',
      ...(settings.asClass ? decoratorNotes(place) : []),
    ],
    variables: [optional('MQTT_URL', 'mqtt://localhost:1883')],
  }
}

interface Parts extends TopicSettings {
  readonly className: string
  /** Whether it is one of the broker's own topics, which have plain text, and to which no other client publishes. */
  readonly isOfBroker: boolean
}

function source(parts: Parts): string {
  const { filter, asClass, isOfBroker } = parts
  const names = [...(asClass ? ['BaseMqtt', 'mqtt'] : ['logger', 'mqtt']), ...(isOfBroker ? [] : ['type OutputOf'])]
  return `import { ${names.join(', ')} } from '${packageName}'

${isOfBroker ? 'export type Message = string | number' : schema}

declare module '${packageName}' {
  interface MqttTopics {
    ${propertyName(filter)}: Message
  }
}

${asClass ? classForm(parts) : functionalForm(parts)}`
}

const schema = `/** The schema of a message. Other messages go to the error handler instead of the subscriber. */
export const Message = {
  type: 'object',
  properties: { value: { type: 'number' } },
  required: ['value'],
} as const

export type Message = OutputOf<typeof Message>`

const options = ({ isOfBroker }: Parts) => (isOfBroker ? '{ qos: 1 }' : '{ qos: 1, schema: Message }')
const taken = ({ isPattern }: Parts) => `${isPattern ? 'topic: string, ' : ''}message: Message`
const logged = ({ isPattern }: Parts) => (isPattern ? '{ topic, message }' : '{ message }')

const functionalForm = (parts: Parts) => `/** Errors go to the global error handler, or to the log. */
export async function received(${taken(parts)}): Promise<void> {
  logger.info(${logged(parts)}, 'received')
}

await mqtt.subscribe(${literal(parts.topic)}, received, ${options(parts)})
`

const classForm = (parts: Parts) => `/** One instance is made when the server listens. */
export class ${parts.className} extends BaseMqtt {
  /** Errors go to the global error handler, or to the log. */
  @mqtt.subscribe(${literal(parts.topic)}, ${options(parts)})
  async received(${taken(parts)}): Promise<void> {
    this.logger.info(${logged(parts)}, 'received')
  }
}
`

/** A topic that the filter matches. */
const sampleOf = (filter: string) =>
  filter
    .split('/')
    .map((level) => (level === '+' ? 'one' : level === '#' ? 'one/two' : level))
    .join('/')

function test(module: string, kebab: string, { filter, className, asClass, isPattern, isOfBroker }: Parts): string {
  const own = asClass ? className : 'received'
  const sample = literal(sampleOf(filter))
  if (isOfBroker) {
    return `${imports([module, '{ test }'], [`./${kebab}.ts`, `{ ${own} }`])}

test('${kebab}: messages are handled', async () => {
  await ${asClass ? `new ${className}().received` : 'received'}(${isPattern ? `${sample}, ` : ''}'12 seconds')
})
`
  }
  return `${imports(
    ['node:assert/strict', 'assert'],
    [module, '{ test }'],
    [packageName, '{ MqttService, mqtt, setMqttGlobalErrorHandler }'],
    asClass ? [`./${kebab}.ts`, `{ ${className} }`] : [`./${kebab}.ts`],
  )}

test('${kebab}: messages are handled, and others go to the handler of errors', async () => {
  const failures: unknown[] = []
  setMqttGlobalErrorHandler((error) => void failures.push(error))
  await MqttService.connect({ provider: 'memory'${asClass ? `, subscribe: [${className}]` : ''} })

  const topic = ${sample}
  await mqtt.publish(topic, { value: 21.5 }, { qos: 1 })
  assert.deepEqual(failures, [])
  await mqtt.publish(topic, new TextEncoder().encode('no number'), { qos: 1 })
  await MqttService.disconnect()

  assert.notDeepEqual(failures, [])
})
`
}
