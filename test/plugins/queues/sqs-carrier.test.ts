import { describe, expect, test } from 'vitest'
import { metaIn, sizeOf, withMeta } from '../../../plugins/shared/engines/sqs-body.ts'

const carrier = { traceparent: 'a', tracestate: 'b', baggage: 'c' }
const own = (count: number) => ({
  MessageAttributes: Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`own${i}`, { DataType: 'String', StringValue: 'x' }]),
  ),
})
const namesOf = (options: ReturnType<typeof withMeta>) => Object.keys(options?.MessageAttributes ?? {}).slice(-3)

describe('the carrier of a message of SQS', () => {
  test('is among its attributes, and comes out again', () => {
    expect(metaIn(withMeta(undefined, carrier, 'body', 1000) as never)).toEqual(carrier)
    expect(withMeta(undefined, undefined, 'body', 1000)).toBeUndefined()
  })

  test('takes the room that is left of ten attributes, the parent first', () => {
    expect(namesOf(withMeta(own(7), carrier, '', 1000))).toEqual(['traceparent', 'tracestate', 'baggage'])
    expect(namesOf(withMeta(own(9), carrier, '', 1000))).toEqual(['own7', 'own8', 'traceparent'])
    expect(withMeta(own(10), carrier, '', 1000)).toEqual(own(10))
  })

  test('leaves an attribute of the application as it is', () => {
    const given = { MessageAttributes: { traceparent: { DataType: 'String', StringValue: 'mine' } } }
    expect(withMeta(given, carrier, '', 1000)!.MessageAttributes!.traceparent).toEqual(
      given.MessageAttributes.traceparent,
    )
  })

  test('does not make a message too large', () => {
    const body = 'x'.repeat(100)
    const with3 = withMeta(undefined, carrier, body, 1000)
    expect(withMeta(undefined, carrier, body, sizeOf(body, with3))).toEqual(with3)
    expect(withMeta(undefined, carrier, body, sizeOf(body, with3) - 1)).toBeUndefined()
  })
})
