import { defineErrors } from '../../kernel/index.ts'
import { type Check, usableCheckOf } from '../shared/schema/check.ts'
import { whyNotJson } from '../shared/schema/sendable.ts'
import { firstInWords, type Issue } from '../shared/schema/verdict.ts'
import { nestsDeeperThan, reachesPrototype } from '../shared/values/json-dangers.ts'
import { jsonText } from '../shared/values/json-text.ts'
import { safely, unlessLate } from '../shared/values/safely.ts'
import type { Message, MessageSchemas } from './types.ts'

const { OutgoingMessageError, MessageSchemaError } = defineErrors({
  OutgoingMessageError: (what: string, why: string) => `${what} was not sent: ${why}`,
  MessageSchemaError: (type: string, why: string) => `the schema of the message "${type}" cannot be used: ${why}`,
})

/** The type of the frame that responds to an invalid message: a client must be able to tell it from the application's types. */
export const errorType = 'error'
/** The code in that frame. */
export const invalidMessageCode = 'InvalidMessageError'
const reserved =
  'the framework itself sends messages of this type, as the response to invalid messages. Choose another type'

/** The same as for a JSON body; the first level is the message itself. */
const maxDepth = 65

/** Why a message of a client is invalid, as the error frame reports it. */
export interface InvalidMessage {
  readonly message: string
  readonly errors?: readonly Issue[]
}

/** A valid message, or what is wrong with it. */
export type ReadMessage =
  | { readonly ok: true; readonly message: string | Uint8Array | Message; readonly isExtension?: true }
  | { readonly ok: false; readonly invalid: InvalidMessage }

/** The frame that responds to an invalid message. */
export function errorFrame({ message, errors }: InvalidMessage): string {
  return JSON.stringify({ type: errorType, data: { code: invalidMessageCode, message, errors } })
}

export type Read = (message: string | Uint8Array) => ReadMessage | Promise<ReadMessage>

function checksOf(schemas: MessageSchemas, mode: 'body' | 'exact'): ReadonlyMap<string, Check> {
  const checks = new Map<string, Check>()
  for (const [type, schema] of Object.entries(schemas)) {
    const why = mode === 'body' ? whyNotJson(schema) : type === errorType ? reserved : undefined
    if (why !== undefined) throw MessageSchemaError(type, why)
    const check = usableCheckOf(schema, mode, (problem) => MessageSchemaError(type, problem))
    checks.set(type, check)
  }
  return checks
}

/** The messages of another plugin on a route. */
export interface ForeignMessages {
  readonly types: readonly string[]
  /** Whether other messages have a handler; without one they are refused. */
  readonly hasHandler: boolean
}

/** Returns a function that reads the messages of clients: as they are, or by the schemas of their types; and those of another plugin. */
export function readerOf(schemas: MessageSchemas | undefined, foreign?: ForeignMessages): Read {
  if (schemas === undefined && foreign === undefined) return (message) => ({ ok: true, message })
  const { types: theirs, hasHandler } = foreign ?? { types: [], hasHandler: true }
  const isUntyped = schemas === undefined && hasHandler
  const checks = hasHandler && schemas !== undefined ? checksOf(schemas, 'body') : new Map<string, Check>()
  const types = [...checks.keys(), ...theirs]
  return (text) => {
    const parsed = parse(text)
    if (typeof parsed !== 'string' && theirs.includes(parsed.type))
      return { ok: true, message: parsed, isExtension: true }
    if (isUntyped) return { ok: true, message: text }
    if (typeof parsed === 'string') return { ok: false, invalid: { message: parsed } }
    const { type, data } = parsed
    const check = checks.get(type)
    if (check === undefined) {
      const message = `unknown type ${JSON.stringify(type.slice(0, 100))}; the types are ${types.join(', ')}`
      return { ok: false, invalid: { message } }
    }
    const verdict = check(data)
    return verdict instanceof Promise ? verdict.then((settled) => judged(type, settled)) : judged(type, verdict)
  }
}

function judged(type: string, verdict: Awaited<ReturnType<Check>>): ReadMessage {
  if (verdict.ok) return { ok: true, message: { type, data: verdict.value } }
  const { issues } = verdict
  return { ok: false, invalid: { message: `"${type}" is not valid: ${firstInWords(issues)}`, errors: issues } }
}

/** Parses a text; returns the message, or the error. */
function parse(text: string | Uint8Array): Message | string {
  if (typeof text !== 'string') return 'a message must be JSON text, not bytes'
  if (nestsDeeperThan(maxDepth, text)) return `the message nests deeper than ${maxDepth} levels`
  const value: unknown = safely(() => JSON.parse(text))
  if (value === undefined) return 'the message is not valid JSON'
  if (reachesPrototype(value, text)) return 'the message has the key __proto__ or constructor.prototype'
  const { type, data } = (value ?? {}) as Partial<Message>
  return typeof type === 'string' ? { type, data } : 'a message is an object with a type: { "type": "…", "data": … }'
}

export type Write = (message: unknown) => string | Uint8Array

/** Strings as they are, and the bytes of buffers and of views of them; `undefined` for anything else. */
function frameOf(message: unknown): string | Uint8Array | undefined {
  if (typeof message === 'string') return message
  const bytes = ArrayBuffer.isView(message)
    ? new Uint8Array(message.buffer, message.byteOffset, message.byteLength)
    : message instanceof ArrayBuffer || message instanceof SharedArrayBuffer
      ? new Uint8Array(message)
      : undefined
  // Deno does not send shared memory.
  return bytes?.buffer instanceof SharedArrayBuffer ? bytes.slice() : bytes
}

/**
 * Returns a function that writes messages: strings and bytes as they are and everything else as JSON, or by the schemas of their types.
 *
 * @throws OutgoingMessageError from the returned function.
 */
export function writerOf(schemas: MessageSchemas | undefined): Write {
  if (schemas === undefined) return (message) => frameOf(message) ?? toText(message)
  const checks = checksOf(schemas, 'exact')
  const known = [...checks.keys()].join(', ')
  return (message) => {
    const { type, data } = (message ?? {}) as Partial<Message>
    const check = typeof type === 'string' ? checks.get(type) : undefined
    if (check === undefined) throw OutgoingMessageError('a message', `${described(type)} is not one of ${known}`)
    const verdict = unlessLate(check(data))
    if (verdict === undefined)
      throw OutgoingMessageError(
        `"${type}"`,
        'its schema is asynchronous; the schema of a sent message must be synchronous',
      )
    if (!verdict.ok) throw OutgoingMessageError(`"${type}"`, firstInWords(verdict.issues))
    return toText({ type, data: verdict.value })
  }
}

const described = (type: unknown) =>
  typeof type === 'string' ? `its type "${type}"` : 'its type, which is not a string,'

const toText = (message: unknown) => jsonText(message, (why) => OutgoingMessageError('a message', `it ${why}`))
