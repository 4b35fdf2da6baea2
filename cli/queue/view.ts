import type { MessageState, QueueCounts, QueueEntry } from '../../plugins/queues/index.ts'
import { clean } from '../../plugins/shared/terminal/lines.ts'
import { printable } from '../printable.ts'

/** A queue in a list. */
export interface ListedQueue extends Partial<QueueCounts> {
  readonly queue: string
  readonly kind: string
  /** Missing, as are the numbers, if its messages cannot be seen. */
  readonly paused?: boolean
  /** Those that the application declares. */
  readonly subscribers: number
  /** Why its engine does not respond. */
  readonly error?: string
}

export const messageStates = ['waiting', 'active', 'delayed', 'failed'] as const satisfies readonly MessageState[]

export function queueRow(listed: ListedQueue): string[] {
  const { queue, kind, oldest, paused, subscribers, error } = listed
  const unseen = kind === 'memory' ? 'in the process of the server' : 'not available'
  const notes = [
    ...(oldest ? [`oldest ${age(oldest)}`] : []),
    `${subscribers} subscriber${subscribers === 1 ? '' : 's'}`,
    ...(paused ? ['paused'] : []),
    ...(error !== undefined || kind === 'memory' ? [unseen] : []),
  ]
  return [queue, kind, ...messageStates.map((state) => `${listed[state] ?? '?'} ${state}`), notes.join(' · ')]
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const

/** Milliseconds for people: in the largest unit of which there are two. */
function age(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms >= 2 * one) ?? ['s', 1000]
  return `${Math.floor(ms / size)} ${unit}`
}

/** How much of a payload a row has. */
const shownPayload = 120

export function messageRow(message: QueueEntry): string[] {
  const { id, publishedAt, dueAt, errors, payload } = message
  const text = JSON.stringify(payload) ?? ''
  const cells = [
    id,
    attemptsOf(message),
    time(publishedAt),
    dueAt === undefined ? (errors.at(-1)?.message ?? '') : `due ${time(dueAt)}`,
    text.length > shownPayload ? `${text.slice(0, shownPayload)}…` : text,
  ]
  return cells.map((cell) => safe(cell).replace(/\s+/g, ' '))
}

/** What is known of one message: rows, then its payload and its errors with their stacks. */
export function messageView(message: QueueEntry): { rows: string[][]; blocks: string[] } {
  const { id, key, state, version, publishedAt, dueAt, expiresAt, trace, payload, errors } = message
  const known = {
    ...{ id, key: key === id ? undefined : key, state, attempts: attemptsOf(message) },
    ...{ published: time(publishedAt), due: time(dueAt), expires: time(expiresAt), version: String(version), trace },
  }
  const block = (title: string, body: string) => `${title}\n${safe(body).trimEnd()}`.replaceAll('\n', '\n  ')
  return {
    rows: Object.entries(known).flatMap(([name, value]) => (value ? [[name, safe(value)]] : [])),
    blocks: [
      block('payload', JSON.stringify(payload, undefined, 2) ?? ''),
      ...errors.map(({ message: why, stack = '' }, at) =>
        block(`error ${at + 1}`, stack.includes(why) ? stack : `${why}\n${stack}`),
      ),
    ],
  }
}

const attemptsOf = ({ attempt, attempts }: QueueEntry) =>
  attempts === undefined ? `${attempt} attempts` : `${attempt} of ${attempts} attempts`

const time = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString())

/** Messages and errors come from anywhere, and a terminal would execute what is in them. */
const safe = (text: string) => clean(printable(text))
