import { describe, expect, test } from 'vitest'
import { OverloadState } from '../../../plugins/overload/gate.ts'

const limits = { eventLoopDelay: 100, heapUsed: 1_000, requestsInFlight: 10 }
const calm = { eventLoopDelay: 1, heapUsed: 100, requestsInFlight: 1 }
const late = { ...calm, eventLoopDelay: 150 }

function makeGate() {
  const lines: string[] = []
  const gate = new OverloadState(limits, {
    began: (exceeded) => void lines.push(`began: ${exceeded}`),
    ended: (refused) => void lines.push(`ended: ${refused}`),
  })
  const look = (load: typeof calm, times = 1) => {
    for (let i = 0; i < times; i++) gate.look(load)
  }
  /** How many of 100 requests are let in, with that many in flight. */
  const admitted = (inFlight = 1) => Array.from({ length: 100 }, () => gate.admits(inFlight)).filter(Boolean).length
  return { gate, lines, look, admitted }
}

describe('the event loop and the heap', () => {
  test('one sample past a limit refuses nothing, a second one halves the accepted share', () => {
    const { gate, look, lines, admitted } = makeGate()
    look(late)
    expect([gate.most, gate.isOverloaded]).toEqual([10, false])
    look(late)
    expect([gate.most, gate.isOverloaded, gate.share]).toEqual([-1, true, 0.5])
    expect(admitted()).toBe(50)
    look(late)
    expect(admitted()).toBe(25)
    look(late, 10)
    // Some are always let in: a server that refuses all has no way to find out that it could response.
    expect(admitted()).toBe(1)
    expect(lines).toEqual(['began: eventLoopDelay'])
  })

  test('a heap past its limit counts as well', () => {
    const { gate, look, lines } = makeGate()
    look({ ...calm, heapUsed: 1_001 }, 2)
    expect([gate.share, gate.exceeded, lines]).toEqual([0.5, ['heapUsed'], ['began: heapUsed']])
  })

  test('the share grows by steps once all is calm, and slowly between calm and limit', () => {
    const { gate, look } = makeGate()
    look(late, 2)
    look({ ...calm, eventLoopDelay: 90 }, 5)
    expect(gate.share).toBeCloseTo(0.55)
    look(calm, 2)
    expect(gate.share).toBeCloseTo(0.65)
    look(calm, 8)
    expect([gate.share, gate.most]).toEqual([1, 10])
  })

  test('a heap that stays just below its limit locks no one out for ever', () => {
    const { gate, look } = makeGate()
    look({ ...calm, heapUsed: 1_001 }, 20)
    look({ ...calm, heapUsed: 900 }, 100)
    expect([gate.share, gate.most]).toEqual([1, 10])
  })

  test('an overload ends once, after looks in a row that refused no one', () => {
    const { gate, look, lines, admitted } = makeGate()
    look(late, 2)
    admitted()
    look(calm, 10)
    // One more limit passed for a moment begins nothing anew.
    look(late)
    look(calm, 3)
    expect([gate.isOverloaded, lines]).toEqual([true, ['began: eventLoopDelay']])
    look(calm)
    expect([gate.isOverloaded, lines]).toEqual([false, ['began: eventLoopDelay', 'ended: 50']])
  })
})

describe('requests in flight', () => {
  test('are refused above the limit alone, and reported once', () => {
    const { gate, look, lines, admitted } = makeGate()
    expect(admitted(11)).toBe(0)
    expect(admitted(10)).toBe(100)
    expect(admitted(11)).toBe(0)
    expect([gate.share, gate.refused, lines]).toEqual([1, 200, ['began: requestsInFlight']])
    look(calm, 4)
    // The first look still saw refusals.
    expect(lines).toHaveLength(1)
    look(calm)
    expect(lines).toEqual(['began: requestsInFlight', 'ended: 200'])
  })
})
