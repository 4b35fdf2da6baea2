import type { Message } from '@aws-sdk/client-sqs'
import { safely } from '../values/safely.ts'
import { carrierNames } from '../work/carrier.ts'
import type { Meta } from './meta.ts'
import type { SqsTerms } from './publish-options.ts'

/** The limit of SQS for a batch, and for one message unless its queue has a lower one. */
export const maxBytes = 1_048_576
export const maxEntries = 10

/** The size as SQS counts it, including the attributes with their names and types. */
export function sizeOf(body: string, { MessageAttributes = {} }: SqsTerms = {}): number {
  const texts = Object.entries(MessageAttributes).flatMap(([name, one]) => [name, one.DataType, one.StringValue ?? ''])
  return [body, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** The limit of SQS for the attributes of one message. */
const mostAttributes = 10

/** The attribute with what only this framework needs. */
const ours = 'framework.meta'

/** The options with the trace data among the attributes, if there is room next to the application's own, and with what its handler needs. */
export function withMeta(
  options: SqsTerms | undefined,
  meta: Readonly<Meta> | undefined,
  body: string,
  most: number,
): SqsTerms | undefined {
  if (meta === undefined) return options
  const { traceparent, tracestate, baggage, ...needed } = meta
  const { MessageAttributes: given = {} } = options ?? {}
  const text = (StringValue: string) => ({ DataType: 'String', StringValue })
  const own = Object.keys(needed).length === 0 ? given : { ...given, [ours]: text(JSON.stringify(needed)) }
  const room = mostAttributes - Object.keys(own).length
  const added = carrierNames
    .filter((name) => meta[name] !== undefined && !Object.hasOwn(given, name))
    .slice(0, Math.max(0, room))
    .map((name) => [name, text(meta[name]!)] as const)
  const without = own === given ? options : { ...options, MessageAttributes: own }
  if (added.length === 0) return without
  const extended = { ...options, MessageAttributes: { ...own, ...Object.fromEntries(added) } }
  // A message that fits is not refused because of its trace.
  return sizeOf(body, extended) > most ? without : extended
}

export function metaIn({ MessageAttributes = {} }: Message): object {
  const carrier = Object.fromEntries(carrierNames.map((name) => [name, MessageAttributes[name]?.StringValue]))
  const needed: unknown = safely(() => JSON.parse(MessageAttributes[ours]?.StringValue ?? '{}'), {})
  return { ...carrier, ...(needed as object) }
}

/** JSON in the characters that SQS accepts, which are those of XML; emulators refuse surrogate pairs as well. */
export function bodyOf(text: string): string {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16)}`
  return text.replace(/[\ud800-\udfff\ufffe\uffff]/g, escaped)
}

/** A body that is not JSON comes from another program: its text is the payload. */
export const payloadOf = (body = ''): unknown => safely(() => JSON.parse(body), body)

/** The indexes of messages, by their sizes, in batches that SQS accepts. */
export function batches(sizes: readonly number[]): number[][] {
  const lots: number[][] = []
  let bytes = Number.POSITIVE_INFINITY
  sizes.forEach((size, i) => {
    bytes += size
    if (bytes > maxBytes || lots.at(-1)!.length === maxEntries) {
      lots.push([])
      bytes = size
    }
    lots.at(-1)!.push(i)
  })
  return lots
}
