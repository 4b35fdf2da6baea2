import { describe, expect, it } from 'vitest'
import { headerLines } from '../../../kernel/runtime/deno.ts'

/** A request as Deno makes them: its list is in a member whose name is a symbol. */
function requestOf(headers: [string, string][], list: unknown = headers): Request {
  return Object.assign(new Request('http://a/', { headers }), { [Symbol('request')]: { headerList: list } })
}

describe('header lines of a Deno request', () => {
  it('are the list of the request, line by line', () => {
    const lines: [string, string][] = [
      ['Host', 'a'],
      ['x-a', '1'],
      ['x-a', '2'],
    ]
    const request = requestOf(lines)
    expect(headerLines()(request)).toBe(lines)
  })

  it.each([
    ['a list that lacks a line', [['host', 'a']]],
    ['a list with another value', [['host', 'a'], ['x-a', '3']]], // biome-ignore format: one row
    ['something else', 'host: a'],
    ['nothing', undefined],
  ])('are those of request.headers where Deno keeps %s', (_, list) => {
    const headers: [string, string][] = [
      ['host', 'a'],
      ['x-a', '1'],
    ]
    expect(headerLines()(requestOf(headers, list === undefined ? null : list))).toEqual(headers)
  })

  it('are not decided by a request without headers', () => {
    const read = headerLines()
    expect(read(requestOf([], []))).toEqual([])
    expect(read(requestOf([['x-a', '1']], []))).toEqual([['x-a', '1']])
  })

  it('are those of request.headers where the request has no such list', () => {
    expect(headerLines()(new Request('http://a/', { headers: { 'x-a': '1' } }))).toEqual([['x-a', '1']])
  })
})
