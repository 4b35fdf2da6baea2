import { describe, expect, test } from 'vitest'
import { jsonFault } from '../../../../plugins/shared/values/json-fault.ts'

describe('jsonFault', () => {
  test('there is a fault exactly in the texts that JSON.parse refuses', () => {
    const pieces = ['{', '}', '[', ']', ',', ':', '"a"', '1', '-', 'true', ' ', '"', '\\', 'e', '.5', '\n']
    let random = 7
    const next = (below: number) => {
      random = (random * 48_271) % 2_147_483_647
      return random % below
    }
    const faults: unknown[] = []
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from({ length: 1 + next(8) }, () => pieces[next(pieces.length)]).join('')
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      const fault = jsonFault(text)
      const isPlace = fault === undefined || /^line \d+, column \d+$/.test(fault.place)
      if ((fault === undefined) !== valid || !isPlace) faults.push({ text, valid, fault })
    }
    expect(faults).toEqual([])
  })

  test.each([
    ['[1, 2,]', 'line 1, column 7', 'a value'],
    ['{"a":\n  tru }', 'line 2, column 3', 'a value'],
    ['{"a": "x\\q"}', 'line 1, column 9', 'a JSON escape sequence'],
    ['{"a": "x\n"}', 'line 1, column 9', 'the closing double quote'],
    ['{"a"; 1}', 'line 1, column 5', '":"'],
    ['{"a": 1; "b": 2}', 'line 1, column 8', '"," or "}"'],
    ['1 2', 'line 1, column 3', 'the end of the file'],
  ])('%j: what is expected at its fault', (text, place, expected) => {
    expect(jsonFault(text)).toEqual({ place, isAtEnd: false, expected })
  })

  test('a text that ends too early, and one that must be an object', () => {
    expect(jsonFault('{"a": [1')).toMatchObject({ isAtEnd: true, expected: '"," or "]"' })
    expect(jsonFault('')).toMatchObject({ isAtEnd: true, expected: 'a value' })
    expect(jsonFault('[]')).toBeUndefined()
    expect(jsonFault('[]', '{')).toEqual({ place: 'line 1, column 1', isAtEnd: false, expected: '"{"' })
    expect(jsonFault('{"a": []}', '{')).toBeUndefined()
  })

  test('strings of any length are read', () => {
    expect(jsonFault(`["${'\\n'.repeat(2_000_000)}" 1]`)).toMatchObject({ expected: '"," or "]"' })
  })
})
