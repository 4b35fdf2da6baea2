import { describe, expect, test } from 'vitest'
import { LruMap } from '../../../../plugins/shared/values/lru.ts'

describe('a bounded map', () => {
  test('drops the least recently used entry, and reading is a use', () => {
    const dropped: string[] = []
    const map = new LruMap<number>({ max: 2, onDrop: (value, key, why) => dropped.push(`${key}=${value} ${why}`) })
    map.set('a', 1)
    map.set('b', 2)
    expect(map.get('a')).toBe(1)
    // No use.
    expect(map.has('b')).toBe(true)
    map.set('c', 3)
    expect(dropped).toEqual(['b=2 evicted'])
    expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([1, undefined, 3, 2])
    map.set('a', 4)
    map.set('d', 5)
    expect(dropped.slice(1)).toEqual(['a=1 replaced', 'c=3 evicted'])
    expect(map.keys()).toEqual(['a', 'd'])
  })

  test('does not keep an entry with an invalid end for ever', () => {
    const map = new LruMap<number>({ max: 2 })
    map.set('a', 1, Number.NaN)
    expect(map.get('a')).toBeUndefined()
  })

  test('keeps no more than fits, and nothing that is too large alone', () => {
    const map = new LruMap<string>({ maxSize: 10, sizeOf: (value) => value.length })
    for (const key of ['a', 'b', 'c']) map.set(key, '12345')
    expect(map.keys()).toEqual(['b', 'c'])
    map.set('b', '1'.repeat(11))
    expect(map.keys()).toEqual(['c'])
    map.set('d', '123456')
    expect(map.keys()).toEqual(['d'])
    map.delete('d')
    map.set('e', '1234567890')
    expect(map.keys()).toEqual(['e'])
  })

  test('forgets with time, and does not call that a want of room', () => {
    let now = 0
    const dropped: string[] = []
    const map = new LruMap<number>({
      max: 2,
      now: () => now,
      onDrop: (_value, key, why) => dropped.push(`${key} ${why}`),
    })
    map.set('a', 1, 10)
    map.set('b', 2)
    now = 9
    expect(map.get('a')).toBe(1)
    expect(map.get('b')).toBe(2)
    now = 10
    expect([map.keys(), map.size]).toEqual([['b'], 2])
    map.set('c', 3)
    expect(dropped).toEqual(['a expired'])
    map.set('d', 4, 1)
    now = 13
    expect(map.has('d')).toBe(false)
    map.clear()
    expect([dropped.slice(1), map.size]).toEqual([['b evicted', 'd expired', 'c deleted'], 0])
    map.set('e', 5)
    expect(map.get('e')).toBe(5)
  })
})
