import { describe, expect, test } from 'vitest'
import { entityTag, fileValidators, isKnown, judgeConditions } from '../../../../plugins/shared/http/validators.ts'

const early = 'Thu, 01 Jan 2026 00:00:00 GMT'
const late = 'Thu, 01 Jan 2026 00:00:01 GMT'
const file = fileValidators({ size: 255, mtime: new Date(early) })

test('the tag of a body is that of its bytes, as text and as bytes', () => {
  expect(entityTag('é')).toBe(entityTag(new TextEncoder().encode('é')))
  expect(entityTag('é')).toMatch(/^"2-[\w-]{27}"$/)
  expect(entityTag('')).not.toBe(entityTag('a'))
})

test('a file is recognised by its size and its time', () => {
  expect(file).toEqual({ etag: `W/"ff-${Date.parse(early).toString(16)}"`, lastModified: early })
})

describe('conditions', () => {
  const tag = file.etag!
  test.each([
    [{}, 200],
    [{ 'if-none-match': tag }, 304],
    [{ 'if-none-match': tag.slice(2) }, 304],
    [{ 'if-none-match': `"a" , ${tag},"b"` }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"a"' }, 200],
    // The tag decides where there is one.
    [{ 'if-none-match': '"a"', 'if-modified-since': late }, 200],
    [{ 'if-modified-since': early }, 304],
    [{ 'if-modified-since': late }, 304],
    [{ 'if-modified-since': 'Wed, 31 Dec 2025 23:59:59 GMT' }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    // RFC 9110 section 5.6.7: three ways to write one time, none of them by the clock of this machine.
    [{ 'if-modified-since': 'Thursday, 01-Jan-26 00:00:00 GMT' }, 304],
    [{ 'if-modified-since': 'Thu Jan  1 00:00:00 2026' }, 304],
    [{ 'if-modified-since': 'Wed Dec 31 23:59:59 2025' }, 200],
    // Not dates, although `Date.parse` makes one of each.
    [{ 'if-modified-since': '2099' }, 200],
    [{ 'if-modified-since': '2099-01-01T00:00:00Z' }, 200],
    [{ 'if-unmodified-since': '0' }, 200],
    [{ 'if-match': tag }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': '"a", "b"' }, 412],
    [{ 'if-match': '' }, 412],
    [{ 'if-unmodified-since': early }, 200],
    [{ 'if-unmodified-since': 'Wed, 31 Dec 2025 23:59:59 GMT' }, 412],
    [{ 'if-unmodified-since': 'yesterday' }, 200],
    // RFC 9110 section 13.2.2: the date is not asked where there is a tag.
    [{ 'if-match': tag, 'if-unmodified-since': 'Wed, 31 Dec 2025 23:59:59 GMT' }, 200],
    [{ 'if-match': tag, 'if-none-match': tag }, 304],
    [{ 'if-match': '"a"', 'if-none-match': tag }, 412],
    [{ 'cache-control': 'no-cache', 'if-none-match': tag }, 304],
  ])('%j come to %i', (headers, status) => {
    expect(judgeConditions(headers, file)).toBe(status)
  })

  const strong = { etag: '"a"', lastModified: early }
  test.each([
    [{}, strong, 200],
    [{ 'if-match': '"b", "a"' }, strong, 200],
    [{ 'if-match': 'W/"a"' }, strong, 412],
    [{ 'if-match': tag }, file, 412],
    [{ 'if-match': '*' }, file, 200],
    [{ 'if-match': '*' }, undefined, 412],
    [{ 'if-match': '"a"' }, undefined, 412],
    [{ 'if-match': '"a"' }, {}, 412],
    [{ 'if-match': '"a"', 'if-unmodified-since': 'Wed, 31 Dec 2025 23:59:59 GMT' }, strong, 200],
    [{ 'if-match': '"a"', 'if-none-match': '"a"' }, strong, 412],
    [{ 'if-none-match': '*' }, strong, 412],
    [{ 'if-none-match': '*' }, undefined, 200],
    [{ 'if-none-match': 'W/"a"' }, strong, 412],
    [{ 'if-none-match': '"b"' }, strong, 200],
    [{ 'if-unmodified-since': 'Wed, 31 Dec 2025 23:59:59 GMT' }, strong, 412],
    [{ 'if-unmodified-since': early }, strong, 200],
    [{ 'if-unmodified-since': early }, undefined, 200],
    // For a GET alone.
    [{ 'if-modified-since': early }, strong, 200],
  ])('%j of a PUT over %j come to %i', (headers, state, status) => {
    expect(judgeConditions(headers, state, true)).toBe(status)
  })

  test('a response without a tag and a date matches no condition but *', () => {
    expect(isKnown({ 'if-none-match': '"a"', 'if-modified-since': late }, {})).toBe(false)
    expect(isKnown({ 'if-modified-since': late }, {})).toBe(false)
    expect(isKnown({ 'if-none-match': '*' }, {})).toBe(true)
  })
})
