import { programName } from '../../package.ts'
import type { Names } from '../names.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, moduleAndTest } from '../source.ts'

/** The kinds of queues, with the packages of their engines. */
export const queuePackages = {
  bullmq: ['bullmq', 'ioredis'],
  pgboss: ['pg-boss'],
  sqs: ['@aws-sdk/client-sqs'],
  memory: [],
} as const

export type QueueKind = keyof typeof queuePackages
export const queueKinds = Object.keys(queuePackages) as [QueueKind, ...QueueKind[]]

/** A queue with a subscriber. */
export function queue(place: Place, { kebab, camel }: Names, kind: QueueKind): Scaffold {
  const file = inFolder(place, `${kebab}.ts`)
  const name = identifier(camel, 'Queue')
  return {
    files: moduleAndTest(place, kebab, 'queue', { kebab, name, factory: `${kind}Queue` }),
    packages: queuePackages[kind],
    next: [
      `In ${place.server}, which has the subscribers of every file that is imported:`,
      `  import '${importPath(place, file)}'`,
      kind === 'memory'
        ? `  new Server({ plugins: { queues: { run: true } } })`
        : `  new Server({ plugins: { queues: { config: { ${kind}: { … } }, run: true } } })`,
      ...(kind === 'memory' ? [] : [`"${programName} init-queue -t ${kind}" writes the configuration.`]),
      `To publish a message, import ${name} from there: await ${name}.publish({ id: '1' })`,
    ],
  }
}
