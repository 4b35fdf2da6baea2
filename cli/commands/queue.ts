import type { Services } from '../../kernel/index.ts'
import type { MessageState, QueueEntry } from '../../plugins/queues/index.ts'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { messageOf } from '../../plugins/shared/values/safely.ts'
import { printTable } from '../columns.ts'
import { CommandFailure, refusal, wrongUsage } from '../failure.ts'
import { askedOneOf, canAsk, cancelled, typesAgain } from '../prompts/ask.ts'
import { noQueues, openQueue, openQueues, queueFlags, subject, typed } from '../queue/open.ts'
import { type ListedQueue, messageRow, messageStates, messageView, queueRow } from '../queue/view.ts'
import { number, onOff, ownCommand, text } from '../run/own-command.ts'

const queueArgument = { name: 'queue', description: 'The name of the queue', required: true } as const
const idsArgument = {
  name: 'ids',
  description: 'The ids of messages, as "queue show" lists them',
  variadic: true,
} as const

export const queueList = ownCommand({
  details: `Boots the application without workers, and asks the engine of each queue. It cannot count messages in memory, which only the
process of the server has. The command reports an engine that does not respond, and the exit code is 1. Subscribers are those that
the application declares.`,
  flags: queueFlags,
  async run(input) {
    const { flags, print, note } = input
    const service = await openQueues(input)
    const all = await Promise.all(service.resolved().map(({ name, kind }) => listed(service, name, kind)))
    if (flags.json) print(JSON.stringify(all, undefined, 2))
    else printTable(all.map(queueRow), print)
    if (all.length === 0) note(noQueues)
    // What is wrong with an engine is the same for all of its queues.
    const failed = new Map(all.flatMap(({ kind, error }) => (error === undefined ? [] : [[kind, error] as const])))
    for (const error of failed.values()) note(error)
    return failed.size === 0 ? 0 : 1
  },
})

async function listed(service: Services['queues'], queue: string, kind: string): Promise<ListedQueue> {
  const subscribers = service.subscribers().filter((one) => one.queue === queue && one.kind === kind).length
  const known = { queue, kind, subscribers }
  if (kind === 'memory') return known
  try {
    const operator = service.of(queue)
    const [counts, paused] = await Promise.all([operator.counts(), operator.isPaused()])
    return { ...known, ...counts, paused }
  } catch (error) {
    return { ...known, error: messageOf(error) }
  }
}

export const queueShow = ownCommand({
  details: `With an id, shows everything about that message, with the stacks of its errors. Secrets in payloads are redacted.
  framework queue show orders --state waiting --limit 100
  framework queue show orders 42`,
  arguments: [queueArgument, { name: 'id', description: 'The id of one message' }],
  flags: {
    ...queueFlags,
    state: text(messageStates.join('|'), 'Lists the messages in this state (default failed)'),
    from: number('n', 'Skips this many messages (default 0)'),
    limit: number('n', 'Lists at most this many, up to 1000 (default 20)'),
  },
  async run(input) {
    const { arguments: given, flags, print, note } = input
    const { queue, id } = given
    const { state: typedState, from, limit = 20 } = flags
    if (id !== undefined && [typedState, from, flags.limit].some((flag) => flag !== undefined))
      throw wrongUsage('queue show: --state, --from and --limit are for a list: leave out either these or the id')
    const state = typedState === undefined ? 'failed' : await askedOneOf('--state', typedState, messageStates)
    const operator = await openQueue(input, queue)
    if (id !== undefined) {
      const message = await operator.find(id)
      if (message === undefined)
        throw new CommandFailure(
          `the queue "${queue}" has no message "${id}": it is done, or the id is wrong. ${typed('show', queue)} lists those that failed`,
        )
      if (flags.json) return print(JSON.stringify(message, undefined, 2))
      const { rows, blocks } = messageView(message)
      printTable(rows, print)
      return blocks.forEach(print)
    }
    const options = { ...(state && { state }), ...(from !== undefined && { from }), limit }
    const messages = await operator.list(options).catch(asUsage)
    if (flags.json) return print(JSON.stringify(messages, undefined, 2))
    printTable(messages.map(messageRow), print)
    if (messages.length === 0) note(`no ${state} messages${from ? ` after the first ${from}` : ''}`)
    else if (messages.length === limit) note(`There may be more: --from ${(from ?? 0) + limit}`)
  },
})

/** The check of an option is that of the operator. */
function asUsage(error: Error): never {
  throw error.name === 'OptionError' ? refusal(error) : error
}

export const queueRetry = ownCommand({
  details: `Retries failed messages with all their attempts: those with the given ids, those that --match finds, or all of them.
  framework queue retry orders 42 43
  framework queue retry orders --match 'connection refused'
  framework queue retry orders --all`,
  arguments: [queueArgument, idsArgument],
  flags: {
    ...queueFlags,
    all: onOff('Retries all failed messages'),
    match: text('text', 'Retries messages with this text in their payload, as JSON, or in an error message'),
  },
  async run(input) {
    const { arguments: given, flags } = input
    const { queue, ids } = given
    const { all, match } = flags
    if (match === '') throw wrongUsage('queue retry: --match needs a string; --all is for all failed messages')
    ensureOne('queue retry', { [someIds]: ids.length > 0, '--all': all, '--match <text>': match !== undefined })
    const operator = await openQueue(input, queue)
    const where = match === undefined ? {} : { where: matching(match) }
    const retried = await operator.retry({ ...chosenBy(ids), ...where, by: subject() })
    return report(input, { queue, retried }, ids)
  },
})

/** Whether a text is in the payload or in the message of an error. */
const matching =
  (part: string) =>
  ({ payload, errors }: QueueEntry) =>
    [JSON.stringify(payload) ?? '', ...errors.map(({ message }) => message)].some((whole) => whole.includes(part))

export const queueRemove = ownCommand({
  details: `Removes the messages with the given ids, in any state, or all failed messages. It keeps a message that is being handled.
  framework queue remove orders 42 43
  framework queue remove orders --all-failed`,
  arguments: [queueArgument, idsArgument],
  flags: { ...queueFlags, 'all-failed': onOff('Removes all failed messages') },
  async run(input) {
    const { arguments: given, flags } = input
    const { queue, ids } = given
    ensureOne('queue remove', { [someIds]: ids.length > 0, '--all-failed': flags['all-failed'] })
    const removed = await (await openQueue(input, queue)).remove({ ...chosenBy(ids), by: subject() })
    return report(input, { queue, removed }, ids)
  },
})

export const queueEmpty = ownCommand({
  details: `Removes the waiting and the delayed messages, or those in the states of --state. It asks you to type the name of the queue
again; scripts pass --yes.
  framework queue empty orders
  framework queue empty orders --state delayed --state failed --yes`,
  arguments: [queueArgument],
  flags: {
    ...queueFlags,
    state: {
      type: 'string',
      multiple: true,
      value: 'waiting|delayed|failed',
      description: 'The state of the messages (default waiting and delayed)',
    },
    yes: onOff('Does not ask', { short: 'y' }),
  },
  async run(input) {
    const { arguments: given, flags, note } = input
    const { queue } = given
    const wanted = flags.state.length === 0 ? (['waiting', 'delayed'] as const) : flags.state
    const states = await Promise.all(
      wanted.map((state) => askedOneOf('--state', state, ['waiting', 'delayed', 'failed'])),
    )
    if (!flags.yes && !canAsk())
      throw wrongUsage('queue empty: there is no terminal in which to confirm the removal: add --yes')
    const operator = await openQueue(input, queue)
    if (!flags.yes && !(await typesAgain(queue, `remove its ${states.join(' and ')} messages`)))
      return cancelled(note, 'removed')
    const removed = await operator.empty({ states: [...new Set(states as MessageState[])], by: subject() })
    return report(input, { queue, removed })
  },
})

const switching = (paused: boolean, details: string) =>
  ownCommand({
    details,
    arguments: [queueArgument],
    flags: queueFlags,
    async run(input) {
      const { queue } = input.arguments
      const operator = await openQueue(input, queue)
      await (paused ? operator.pause({ by: subject() }) : operator.resume({ by: subject() }))
      const inWords = `the queue "${queue}" ${paused ? 'is paused' : 'continues'}`
      input.print(input.flags.json ? JSON.stringify({ queue, paused }) : inWords)
    },
  })

export const queuePause = switching(
  true,
  `Lasts until "queue resume". Running handlers finish, and the queue still accepts messages.`,
)

export const queueResume = switching(false, 'Ends the pause that "queue pause" has begun.')

const someIds = 'ids of messages'

/** Ensures that exactly one way to choose messages is typed: without one, a slip would change all of them. */
function ensureOne(command: string, ways: Readonly<Record<string, boolean>>): void {
  const all = Object.keys(ways)
  const chosen = all.filter((way) => ways[way])
  if (chosen.length === 0) throw wrongUsage(`${command}: say which messages: ${all.join(', or ')}`)
  if (chosen.length > 1) throw wrongUsage(`${command}: ${chosen.join(' and ')} exclude each other: use one of them`)
}

/** The messages with these ids; all that a change is about, if none is typed. */
const chosenBy = (ids: readonly string[]) => (ids.length === 0 ? {} : { ids: [...new Set(ids)] })

/** Prints the result of a change. The exit code is 1 if it left out some of the typed ids. */
function report(
  { flags, print, note }: Pick<CommandInput<{ readonly flags: typeof queueFlags }>, 'flags' | 'print' | 'note'>,
  result: { readonly queue: string; readonly retried?: number; readonly removed?: number },
  ids: readonly string[] = [],
): number {
  const { queue, retried, removed = 0 } = result
  const changed = retried ?? removed
  const messages = changed === 1 ? '1 message' : `${changed} messages`
  print(flags.json ? JSON.stringify(result) : `${messages} ${retried === undefined ? 'removed' : 'sent again'}`)
  const wanted = new Set(ids).size
  if (changed >= wanted) return 0
  const why = retried === undefined ? 'no message has them, or it is being handled' : 'no failed message has them'
  note(`${wanted - changed} of ${wanted} ids left out: ${why}. ${typed('show', queue)} lists the failed messages`)
  return 1
}
