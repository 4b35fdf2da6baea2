import { orFail, safely } from '../../plugins/shared/values/safely.ts'
import { quoted, refusal, wrongUsage } from '../failure.ts'
import { programName } from '../package.ts'
import { isOwnName } from '../registry.ts'
import { onOff, ownCommand, text } from '../run/own-command.ts'
import { optional } from '../scaffold/environment/variables.ts'
import { identifier, literal, type Names, namesOf } from '../scaffold/names.ts'
import { importPath, type Place } from '../scaffold/place.ts'
import { queueKinds, queues } from '../scaffold/queue-kinds.ts'
import { fromTemplates, generateFlags, scaffold, scaffoldOneOf } from '../scaffold/scaffold.ts'
import { key } from '../sdk/printer.ts'

const named = (description: string) => [{ name: 'name', description, required: true }] as const

export const generateCommand = ownCommand({
  details: `Writes src/commands/<name>.ts and a test. "${programName} <name>" runs the command.`,
  arguments: named('The name of the command: send-report'),
  flags: generateFlags,
  run(input) {
    const { kebab, pascal } = namesOf(input.arguments.name, 'command')
    if (kebab === 'help' || isOwnName(kebab))
      throw wrongUsage(`"${kebab}" is a command of the framework: choose another name`)
    const values = { kebab, className: `${pascal}Command` }
    scaffold(input, 'commands', (place) => fromTemplates(place, 'command', kebab, values))
  },
})

export const generateController = ownCommand({
  details: `Writes src/controllers/<name>.ts and a test. The file has routes to list, read, add and remove items, and schemas that
validate and type them.`,
  arguments: named('The resource, which is also the path of the routes: users, order-items'),
  flags: {
    decorators: onOff('Writes a class with decorated methods (deprecated)'),
    ...generateFlags,
  },
  run(input) {
    const { kebab, pascal } = namesOf(input.arguments.name, 'controller')
    const values = { kebab, asClass: input.flags.decorators, className: `${pascal}Controller` }
    scaffold(input, 'controllers', (place) => fromTemplates(place, 'controller', kebab, values))
  },
})

export const generateMiddleware = ownCommand({
  details: `Writes src/middlewares/<name>.ts and a test. The middleware adds a typed member to the request for the handlers after it.`,
  arguments: named('The member that the middleware adds: tenant, api-key'),
  flags: generateFlags,
  run(input) {
    const { kebab, camel, pascal } = namesOf(input.arguments.name, 'middleware')
    const name = identifier(camel, 'Middleware')
    const member = members.has(camel) ? `${camel}Value` : camel
    const values = { kebab, name, member, extension: `${pascal}Extension`, header: `x-${kebab}` }
    scaffold(input, 'middlewares', (place) => fromTemplates(place, 'middleware', kebab, values))
  },
})

/** Existing members of requests, from the kernel and from plugins, which a middleware must not replace. */
const members = new Set(
  `abort body context cookie cookies database extend file files headers id ip log method params path protocol query raw
  rawHeaders route server session signal signedCookies url user validated`.split(/\s+/),
)

export const generateCron = ownCommand({
  details: `Writes src/crons/<name>.ts, which the server loads when it listens, and a test that runs the job on a simulated clock.`,
  arguments: named('What the job does: cleanup, weekly-report'),
  flags: {
    pattern: text('pattern', 'When it runs: minute hour day month weekday', { short: 'p', default: '0 3 * * *' }),
    timezone: text('zone', 'An IANA time zone, such as Europe/Rome (default: the zone of the process)'),
    class: onOff('Writes a class with a decorated method'),
    ...generateFlags,
  },
  async run(input) {
    const { kebab, camel, pascal } = namesOf(input.arguments.name, 'cron')
    const { cronJob } = await import('../../plugins/cron/index.ts')
    // Throws for an invalid pattern; a job that is declared but not started has nothing else.
    orFail(() => cronJob(input.flags.pattern).destroy(), refusal)
    const timezone = zoneOf(input.flags.timezone)
    const values = {
      kebab,
      name: identifier(camel, 'Cron'),
      className: `${pascal}Cron`,
      asClass: input.flags.class,
      pattern: literal(input.flags.pattern.trim()),
      timezone: timezone && literal(timezone),
    }
    scaffold(input, 'crons', (place) => ({
      ...fromTemplates(place, 'cron', kebab, { ...values, isUsual: place.folder === 'src/crons' }),
      packages: ['node-schedule'],
    }))
  },
})

function zoneOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const takes = '--timezone takes a zone of the IANA database, for example Europe/Rome'
  const refuse = () => wrongUsage(`${takes}, not ${quoted(given)}`)
  orFail(() => new Intl.DateTimeFormat('en', { timeZone: given }), refuse)
  return given
}

export const generateQueue = ownCommand({
  details: `Writes src/queues/<name>.ts and a test that runs in memory. The file has a queue, a schema that validates and types its
messages, and a subscriber. The configuration of the queues sets the engine; without one, the queue is in memory. With --type,
the code sets the engine and can use its own options.`,
  arguments: named('What the queue carries: orders, emails'),
  flags: {
    type: text(queueKinds.join('|'), 'Sets the engine in the code, not in the configuration', { short: 't' }),
    ...generateFlags,
  },
  async run(input) {
    const { kebab, camel } = namesOf(input.arguments.name, 'queue')
    const name = identifier(camel, 'Queue')
    const make = (place: Place, kind?: (typeof queueKinds)[number]) => {
      const factory = kind === undefined ? 'queue' : `${kind}Queue`
      const values = { kebab, name, factory, isOpen: kind === undefined, engine: kind === 'memory' ? undefined : kind }
      return {
        ...fromTemplates(place, 'queue', kebab, values),
        packages: kind === undefined ? [] : queues[kind].packages,
      }
    }
    if (input.flags.type === undefined) return scaffold(input, 'queues', make)
    return scaffoldOneOf(input, queueKinds, 'queues', make)
  },
})

export const generateMqtt = ownCommand({
  details: `Writes src/mqtt/<name>.ts, which the server loads when it listens, and a test that uses a broker in memory. The file has
the type of the messages and a subscriber. Its name comes from the topic.`,
  arguments: [
    { name: 'topic', description: "The topic of the subscription: 'sensors/+/temperature', 'rooms/#'", required: true },
  ],
  flags: {
    name: text('name', 'The name of the file, instead of one from the topic'),
    class: onOff('Writes a class with a decorated method'),
    ...generateFlags,
  },
  async run(input) {
    const { names, topic, isPattern, filter } = await readTopic(input.arguments.topic, input.flags.name)
    const values = {
      kebab: names.kebab,
      className: `${names.pascal}Mqtt`,
      topic: literal(topic),
      // The name of a property, which has no quotes if it needs none.
      key: key(filter) === filter ? filter : literal(filter),
      sample: literal(sampleOf(filter)),
      isPattern,
      // The broker's own topics have plain text, and no other client publishes to them.
      isOfBroker: filter.startsWith('$'),
      asClass: input.flags.class,
    }
    scaffold(input, 'mqtt', (place) => {
      const more = { isUsual: place.folder === 'src/mqtt', env: importPath(place, place.env) }
      return {
        ...fromTemplates(place, 'mqtt', names.kebab, { ...values, ...more }),
        packages: ['mqtt'],
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

/**
 * A topic filter for the broker, with names for its file and exports: `sensors/+/temperature` is
 * `sensors-any-temperature`, `rooms/#` is `rooms-all`.
 *
 * @throws CommandFailure for a filter that brokers refuse, and for one without a letter from which to make a name.
 */
async function readTopic(topic: string, name: string | undefined) {
  const { mqttMessages } = await import('../../plugins/mqtt/index.ts')
  orFail(() => mqttMessages.topic(topic), refusal)
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
  if (isLost || words === '' || words.length > 70)
    throw wrongUsage(`the topic ${quoted(topic)} cannot be turned into a file name: pass one with --name <name>`)
  // Words may not be a name: with a leading digit, for example, or as a reserved word.
  return safely(() => namesOf(words, mqttTopic)) ?? namesOf(`topic-${words}`, mqttTopic)
}

/** The kind, which contains a space so that it does not equal any word of a topic. */
const mqttTopic = 'MQTT topic'
