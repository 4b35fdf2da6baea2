import { AssertionError } from 'node:assert'
import type { InjectResponse } from '../../kernel/index.ts'
import { isSame, isSubset } from '../shared/values/subset.ts'
import { bodyOf, caseless, type MockCookie, type MockHeaders, parseSetCookie, shorten, show, utf8 } from './content.ts'

/**
 * The response to a mock request. Assertions throw Node's `AssertionError` with the actual and the expected value, and
 * return the response, so that they can be chained.
 *
 * @example
 * const res = await server.inject.post('/users', { body: { name: 'Ada' } })
 * res.assertStatus(201).assertHeader('location', '/users/1').assertBodySubset({ name: 'Ada' })
 */
export class MockResponse<Answer = unknown> {
  readonly #request: string
  readonly #answer: InjectResponse
  readonly #headers: MockHeaders

  constructor(request: string, answer: InjectResponse) {
    this.#request = request
    this.#answer = answer
    this.#headers = caseless(answer.headers)
  }

  /** The status of the response. */
  statusCode(): number {
    return this.#answer.status
  }

  /** The body: parsed JSON, text as a string, everything else as bytes; `undefined` if it is empty. */
  body<Body = Answer>(): Body {
    // The caller states what it expects; assertions check it.
    return bodyOf(this.#answer.body, String(this.#header('content-type') ?? '')) as Body
  }

  /** The headers: a plain object with lower-case keys; looking one up ignores case. `set-cookie` is a list. */
  headers(): MockHeaders {
    return this.#headers
  }

  /** The cookies that the response sets, by name; can be passed on as the `cookies` of the next request. */
  cookies(): Record<string, string> {
    return Object.fromEntries(this.#setCookies().map(({ name, value }) => [name, value]))
  }

  /** One cookie that the response sets, with its attributes; the last one with that name. */
  cookie(name: string): MockCookie | undefined {
    return this.#setCookies().findLast((one) => one.name === name)
  }

  /** The bytes of the body. */
  raw(): Uint8Array {
    return this.#answer.body
  }

  /** The body as a string, whatever its type. */
  text(): string {
    return utf8.decode(this.#answer.body)
  }

  /** Checks the status; the error for another status shows the body. @throws AssertionError. */
  assertStatus(status: number): this {
    const actual = this.statusCode()
    const body = actual === status ? '' : `. Body: ${shorten(this.text()) || '(empty)'}`
    return this.#judge(actual === status, `status ${status}, got ${actual}${body}`, 'strictEqual', actual, status)
  }

  /** Checks that a header equals the value or matches the regular expression; for a repeated header, one matching line is enough. */
  assertHeader(name: string, value: string | number | RegExp | readonly string[]): this {
    const actual = this.#header(name)
    const lines = actual === undefined ? [] : [actual].flat()
    const holds = Array.isArray(value)
      ? isSame(lines, value)
      : lines.some((line) => (value instanceof RegExp ? line.search(value) !== -1 : line === String(value)))
    const expected = typeof value === 'number' ? String(value) : value
    const wanted = `the header ${name} to be ${show(expected)}, got ${show(actual)}`
    return this.#judge(holds, wanted, 'assertHeader', actual, expected)
  }

  /** Checks that the response has a header with this case-insensitive name. @throws AssertionError. */
  assertHeaderExists(name: string): this {
    const actual = this.#header(name)
    return this.#judge(actual !== undefined, `the header ${name}`, 'exists', actual, name)
  }

  /** Checks that the response has no header with this case-insensitive name. @throws AssertionError. */
  assertHeaderNotExists(name: string): this {
    const actual = this.#header(name)
    return this.#judge(actual === undefined, `no header ${name}, got ${show(actual)}`, 'notExists', actual, undefined)
  }

  /** Checks that the response sets a cookie to the value, with the given `attributes`: `{ path: '/', httponly: true }`. */
  assertCookie(name: string, value: string, attributes: MockCookie['attributes'] = {}): this {
    const cookie = this.cookie(name)
    const wantedAttributes = Object.entries(attributes).map(([key, one]) => [key.toLowerCase(), one] as const)
    const ofCookie = wantedAttributes.map(([key]) => [key, cookie?.attributes[key]])
    const actual = cookie && { value: cookie.value, ...Object.fromEntries(ofCookie) }
    const expected = { value, ...Object.fromEntries(wantedAttributes) }
    const wanted = `the cookie ${name} to be ${show(expected)}, got ${show(actual)}`
    return this.#judge(isSame(actual, expected), wanted, 'assertCookie', actual, expected)
  }

  /** Checks that the response sets this cookie. @throws AssertionError. */
  assertCookieExists(name: string): this {
    const actual = Object.keys(this.cookies())
    return this.#judge(actual.includes(name), `the cookie ${name}, got ${show(actual)}`, 'exists', actual, [name])
  }

  /** Checks that the response does not set this cookie. @throws AssertionError. */
  assertCookieNotExists(name: string): this {
    const actual = this.cookie(name)
    const wanted = `no cookie ${name}, got ${show(actual?.value)}`
    return this.#judge(actual === undefined, wanted, 'notExists', actual, undefined)
  }

  /** Checks that the parsed body contains the given members: of objects by name, of lists in order, with others allowed in between. */
  assertBodySubset(expected: unknown): this {
    return this.#judgeBody(isSubset, true, `a body with ${show(expected)}`, 'assertBodySubset', expected)
  }

  /** Checks that the parsed body equals the given value, without any additional or missing member. @throws AssertionError. */
  assertBodyDeepEqual(expected: unknown): this {
    return this.#judgeBody(isSame, true, `the body ${show(expected)}`, 'deepStrictEqual', expected)
  }

  /** Checks that the parsed body does not have all of the given members. @throws AssertionError. */
  assertBodyNotSubset(expected: unknown): this {
    return this.#judgeBody(isSubset, false, `a body without ${show(expected)}`, 'assertBodyNotSubset', expected)
  }

  /** Checks that the parsed body does not equal the given value. @throws AssertionError. */
  assertBodyNotDeepEqual(expected: unknown): this {
    return this.#judgeBody(isSame, false, `another body than ${show(expected)}`, 'notDeepStrictEqual', expected)
  }

  /** Runs a check, which fails if the function throws or returns `false`; it must not be async. */
  assertCustom(check: (response: this) => void | boolean): this {
    const actual: unknown = check(this)
    if (typeof (actual as { then?: unknown } | undefined)?.then === 'function') {
      throw new TypeError('assertCustom takes a synchronous function: an async one would not be awaited')
    }
    const wanted = `the check ${check.name || '(anonymous)'} to hold`
    return this.#judge(actual !== false, wanted, 'assertCustom', actual, true)
  }

  #judgeBody(compare: typeof isSame, is: boolean, wanted: string, operator: string, expected: unknown): this {
    const body = this.body<unknown>()
    return this.#judge(compare(body, expected) === is, `${wanted}, got ${show(body)}`, operator, body, expected)
  }

  #judge(holds: boolean, wanted: string, operator: string, actual: unknown, expected: unknown): this {
    if (holds) return this
    throw new AssertionError({ message: `${this.#request}: expected ${wanted}`, operator, actual, expected })
  }

  #header(name: string): string | readonly string[] | undefined {
    const key = name.toLowerCase()
    return Object.hasOwn(this.#answer.headers, key) ? this.#answer.headers[key] : undefined
  }

  #setCookies(): MockCookie[] {
    return [this.#answer.headers['set-cookie'] ?? []].flat().map(parseSetCookie)
  }
}
