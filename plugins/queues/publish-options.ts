import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'

/** How long to wait before the next attempt; a number is `{ type: 'fixed', delay }`. */
export type Backoff = number | { readonly type: 'fixed' | 'exponential'; readonly delay?: number }

/** What `publish` of a queue in memory takes. */
export interface MemoryPublishOptions {
  /** How often a handler may try. Default 1. */
  attempts?: number
  /** Milliseconds between attempts; `exponential` doubles them each time. Default: none. */
  backoff?: Backoff
  /** Milliseconds before the first attempt. */
  delay?: number
  /** 0, the default, comes before 1, and so on. */
  priority?: number
  /** A message with the id of one that is there already is not added again. */
  jobId?: string
}

/** What is kept of jobs that are over: nothing (`true`), all, a number of them, or by age in seconds. */
export type KeptJobs = boolean | number | { age: number; count?: number } | { count: number }

/** What `publish` of a queue in Redis takes, in BullMQ's terms. */
export interface BullmqPublishOptions extends MemoryPublishOptions {
  /** The newest first. */
  lifo?: boolean
  /** Of jobs that are done. Default: the last 1000 are kept. */
  removeOnComplete?: KeptJobs
  /** Of jobs that failed for good. Default: all are kept. */
  removeOnFail?: KeptJobs
  /** Publishes it again and again: every so many milliseconds, or by a cron pattern. The same `key` replaces, see `stopRepeat`. */
  repeat?:
    | { readonly key: string; readonly every: number }
    | { readonly key: string; readonly pattern: string; readonly tz?: string }
}

/** What `publish` of a queue in Postgres takes, in pg-boss's terms. */
export interface PgbossPublishOptions {
  /** Attempts after the first. Default 2. */
  retryLimit?: number
  /** Seconds between attempts. Default 0. */
  retryDelay?: number
  /** Doubles `retryDelay` each time. */
  retryBackoff?: boolean
  /** Seconds from now, or a time, before which it does not run. */
  startAfter?: number | string | Date
  /** Higher numbers first. */
  priority?: number
  /** A UUID; a message with the id of one that is there already is not added again. */
  id?: string
  /** With `singletonSeconds`: one message for each key in that time. */
  singletonKey?: string
  singletonSeconds?: number
  /** Seconds a handler may take before its process counts as dead. Default 900. */
  expireInSeconds?: number
  /** The queue that gets the message after the last attempt. */
  deadLetter?: string
}

/** What `publish` of a queue of SQS takes, in its own terms. */
export interface SqsPublishOptions {
  /** Up to 900. */
  DelaySeconds?: number
  /** FIFO queues need one. */
  MessageGroupId?: string
  MessageDeduplicationId?: string
  MessageAttributes?: { readonly [name: string]: { readonly DataType: string; readonly StringValue?: string } }
}

const memory = ['attempts', 'backoff', 'delay', 'priority', 'jobId']
const known: { readonly [kind: string]: readonly string[] } = {
  memory,
  bullmq: [...memory, 'lifo', 'removeOnComplete', 'removeOnFail', 'repeat'],
  pgboss: [
    'retryLimit',
    'retryDelay',
    'retryBackoff',
    'startAfter',
    'priority',
    'id',
    'singletonKey',
    'singletonSeconds',
    'expireInSeconds',
    'deadLetter',
  ],
  sqs: ['DelaySeconds', 'MessageGroupId', 'MessageDeduplicationId', 'MessageAttributes'],
}

/** Numbers that an engine would take as they are and make nonsense of. */
const counted: { readonly [name: string]: number } = {
  attempts: 1,
  delay: 0,
  priority: 0,
  retryLimit: 0,
  retryDelay: 0,
  singletonSeconds: 1,
  expireInSeconds: 1,
  DelaySeconds: 0,
}

/** Refuses options that the engine of this queue does not know; those of a custom one are its own. */
export function checkPublishOptions(kind: string, options: object | undefined): void {
  const names = known[kind]
  if (options === undefined || names === undefined) return
  checkOptions('publish', options, names)
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && name in counted) atLeast(`publish.${name}`, value, counted[name]!, kind, name)
  }
  for (const [name, [isIt, expected]] of Object.entries(shaped)) {
    const value = (options as Record<string, unknown>)[name]
    if (value !== undefined && names.includes(name) && !isIt(value))
      throw OptionError(`publish.${name}`, quoted(value), expected)
  }
  const { backoff, repeat } = options as { backoff?: unknown; repeat?: unknown }
  if (backoff !== undefined) checkBackoff(backoff)
  if (repeat !== undefined) checkRepeat(repeat)
  const { jobId } = options as { jobId?: string }
  // BullMQ builds the keys of Redis with it, and numbers jobs without one by itself.
  if (kind === 'bullmq' && jobId !== undefined && /:|^\d+$/.test(jobId)) {
    throw OptionError('publish.jobId', quoted(jobId), 'text without ":" that is no number')
  }
}

type Check = readonly [isIt: (value: unknown) => boolean, expected: string]
const isKept = (value: unknown) =>
  typeof value === 'boolean' || Number.isInteger(value) || (typeof value === 'object' && value !== null)
const kept: Check = [isKept, 'true, false, a number of jobs, or { age, count }']

/** What an engine would refuse in words of its own, or take for something else. */
const shaped: { readonly [name: string]: Check } = {
  jobId: [(value) => typeof value === 'string' && value !== '', 'text'],
  lifo: [(value) => typeof value === 'boolean', 'true or false'],
  removeOnComplete: kept,
  removeOnFail: kept,
  id: [
    (value) => typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value),
    'a UUID, of crypto.randomUUID() for example',
  ],
}

function checkRepeat(repeat: unknown): void {
  const isObject = typeof repeat === 'object' && repeat !== null
  if (isObject) checkOptions('publish.repeat', repeat, ['key', 'every', 'pattern', 'tz'])
  const { key, every, pattern } = (isObject ? repeat : {}) as { key?: unknown; every?: unknown; pattern?: unknown }
  const isTime = Number.isInteger(every) && (every as number) >= 1 && (every as number) <= 2_147_483_647
  const isOne = every === undefined ? typeof pattern === 'string' : isTime && pattern === undefined
  if (typeof key !== 'string' || key === '' || !isOne) {
    throw OptionError('publish.repeat', repeat, '{ key, every } with milliseconds from 1, or { key, pattern, tz }')
  }
}

function atLeast(option: string, value: unknown, least: number, kind: string, name: string): void {
  // pg-boss orders by it in both directions.
  if (kind === 'pgboss' && name === 'priority' && Number.isInteger(value)) return
  const isWhole = Number.isInteger(value) && (value as number) >= least && (value as number) <= 2_147_483_647
  if (!isWhole) throw OptionError(option, quoted(value), `a whole number from ${least}`)
}

function checkBackoff(backoff: unknown): void {
  const { type, delay = 0 } = typeof backoff === 'number' ? { type: 'fixed', delay: backoff } : Object(backoff)
  const isDelay = typeof delay === 'number' && delay >= 0 && delay <= 2_147_483_647
  if ((type !== 'fixed' && type !== 'exponential') || !isDelay) {
    throw OptionError('publish.backoff', quoted(backoff), 'milliseconds, or { type: "fixed" or "exponential", delay }')
  }
}
