import { safely } from '../../shared/values/safely.ts'
import { type Carrier, carrierNames } from '../../shared/work/carrier.ts'
import type { SqsPublishOptions } from '../publish-options.ts'
import type { Message } from './sqs-types.ts'

/** The limit of SQS for a batch, and for one message unless its queue has a lower one. */
export const maxBytes = 1_048_576
export const maxEntries = 10

/** The size as SQS counts it, including the attributes with their names and types. */
export function sizeOf(body: string, { MessageAttributes = {} }: SqsPublishOptions = {}): number {
  const texts = Object.entries(MessageAttributes).flatMap(([name, one]) => [name, one.DataType, one.StringValue ?? ''])
  return [body, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** The limit of SQS for the attributes of one message. */
const mostAttributes = 10

/** The options with a carrier among the attributes, if there is room next to the application's own. */
export function withCarrier(
  options: SqsPublishOptions | undefined,
  carrier: Readonly<Carrier> | undefined,
  body: string,
  most: number,
): SqsPublishOptions | undefined {
  if (carrier === undefined) return options
  const { MessageAttributes: given = {} } = options ?? {}
  const room = mostAttributes - Object.keys(given).length
  const added = carrierNames
    .filter((name) => carrier[name] !== undefined && !Object.hasOwn(given, name))
    .slice(0, Math.max(0, room))
    .map((name) => [name, { DataType: 'String', StringValue: carrier[name]! }] as const)
  if (added.length === 0) return options
  const extended = { ...options, MessageAttributes: { ...given, ...Object.fromEntries(added) } }
  // A message that fits is not refused because of its carrier.
  return sizeOf(body, extended) > most ? options : extended
}

export function carrierIn({ MessageAttributes = {} }: Message): unknown {
  return Object.fromEntries(carrierNames.map((name) => [name, MessageAttributes[name]?.StringValue]))
}

/** JSON in the characters that SQS accepts, which are those of XML; emulators refuse surrogate pairs as well. */
export function bodyOf(text: string): string {
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16)}`
  return text.replace(/[\ud800-\udfff\ufffe\uffff]/g, escaped)
}

/** A body that is not JSON comes from another program: its text is the payload. */
export function payloadOf(body = ''): unknown {
  return safely(() => JSON.parse(body), body)
}

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
