import { expect, test } from 'vitest'
import { jsonText } from '../../../../plugins/shared/values/json-text.ts'

const fail = (why: string) => new RangeError(`it ${why}`)
const circle: { self?: object } = {}
circle.self = circle

test('a value is written as JSON has it', () => {
  expect(jsonText({ at: new Date(0), no: undefined }, fail)).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
})

test.each([
  [undefined, 'it is undefined, which JSON cannot represent. Use null or a plain object'],
  [() => 1, 'it is a function, which JSON cannot represent. Use null or a plain object'],
  [Symbol('a'), 'it is a symbol, which JSON cannot represent. Use null or a plain object'],
  [
    { toJSON: () => undefined },
    'it is an object whose toJSON returns undefined, which JSON cannot represent. Use null or a plain object',
  ],
  [1n, 'it cannot be written as JSON: Do not know how to serialize a BigInt'],
  [circle, 'it cannot be written as JSON: Converting circular structure to JSON'],
  [
    {
      toJSON() {
        throw 'text'
      },
    },
    'it cannot be written as JSON: text',
  ],
])('%o is refused with the error of who asks', (value, message) => {
  let error: unknown
  try {
    jsonText(value, fail)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(RangeError)
  expect((error as Error).message).toBe(message)
})
