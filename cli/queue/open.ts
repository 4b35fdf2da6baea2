import { userInfo } from 'node:os'
import type { Services } from '../../kernel/index.ts'
import type { QueueOperator } from '../../plugins/queues/index.ts'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { ensurePlugin } from '../application/plugin.ts'
import { CommandFailure } from '../failure.ts'
import { programName } from '../package.ts'
import { onOff } from '../run/own-command.ts'
import { keepOutputFromApplication } from '../run/standard-output.ts'

/** The flags of every command about queues. */
export const queueFlags = { ...applicationFlags, json: onOff('Prints JSON') } as const

type Input = Pick<CommandInput<{ readonly flags: typeof queueFlags }>, 'flags' | 'boot'>

/** Boots the application for its queues. No worker starts: that is for a server that listens. */
export async function openQueues({ flags, boot }: Input): Promise<Services['queues']> {
  keepOutputFromApplication()
  const application = await applicationOf(flags, { mayListen: false })
  await ensurePlugin(application, 'queues')
  await boot(application.server)
  return application.server.services.get('queues')
}

/**
 * Boots the application for one of its queues.
 *
 * @throws (as a rejection) QueueOperationError for an unknown name; CommandFailure for a queue in memory: its messages are in another process.
 */
export async function openQueue(input: Input, name: string): Promise<QueueOperator> {
  const service = await openQueues(input)
  if (service.resolved().length === 0) throw new CommandFailure(noQueues)
  const operator = service.of(name)
  if (operator.kind !== 'memory') return operator
  throw new CommandFailure(
    `the queue "${name}" is in memory: its messages are in the process of the server, and this command is another process. Use the page of the queues or the inspector of that server, or make the queue with queue() and put it on an engine, for example with QUEUE_ENGINE=bullmq`,
  )
}

export const noQueues =
  'the application has no queues: do its modules import those that make them, with queue(name) for example?'

/** Who makes a change, for the log: the user of the operating system, who may have no name there, as in some containers. */
export const subject = (): string => `cli:${safely(() => userInfo().username) || 'unknown'}`

/** A command line, for messages. */
export const typed = (command: string, name: string): string => `"${programName} queue ${command} ${name}"`
