import { packageName, programName } from '../../package.ts'
import type { Names } from '../names.ts'
import { importPath, inFolder, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, imports, named } from '../source.ts'

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
    files: [
      { path: file, text: source(kebab, name, `${kind}Queue`) },
      { path: inFolder(place, `${kebab}.test.ts`), text: test(place.testModule, kebab) },
    ],
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

const source = (kebab: string, name: string, factory: string) => `${imports([
  packageName,
  named(factory, 'logger', 'type OutputOf', 'type QueueMessage'),
])}

/** The schema of a message, checked when it is published and again before it is handled. */
export const Payload = {
  type: 'object',
  properties: { id: { type: 'string', minLength: 1 } },
  required: ['id'],
} as const

export type Payload = OutputOf<typeof Payload>

export const ${name} = ${factory}('${kebab}', { schema: Payload })

/** An error is a failed attempt. The same message may arrive twice, so running twice must do no harm. */
export async function handle({ id }: Payload, { attempt }: QueueMessage): Promise<void> {
  logger.info({ id, attempt }, '${kebab}')
}

await ${name}.subscribe(handle, { concurrency: 5 })
`

const test = (module: string, kebab: string) => `${imports(
  ['node:assert/strict', 'assert'],
  [module, '{ test }'],
  [packageName, '{ memoryQueue }'],
  [`./${kebab}.ts`, `{ handle, Payload }`],
)}

test('${kebab}: messages are handled', async () => {
  const queue = memoryQueue('${kebab} of a test', { schema: Payload })
  const subscription = await queue.subscribe(handle)
  await queue.publish({ id: '1' })
  await queue.publish({ id: '2' })
  await queue.drained()
  await subscription.unsubscribe()

  assert.deepEqual(queue.dead, [])
})

test('${kebab}: what does not match the schema is not published', async () => {
  const queue = memoryQueue('${kebab} of a test', { schema: Payload })
  await assert.rejects(queue.publish({ id: '' }), { code: 'QueuePayloadError' })
})
`
