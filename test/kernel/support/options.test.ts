import { checkOptions, described, hidden, OptionError, quoted, sizeOption } from 'framework/kernel'
import { describe, expect, test } from 'vitest'

const secret = 'correct horse battery staple'
const address = 'redis://user:hunter2@host'
const pem = '-----BEGIN PRIVATE KEY-----\nMIIE'

/** The value in the message. */
const said = (value: unknown) => /^the option "x" is (.*); it takes y$/s.exec(OptionError('x', value, 'y').message)?.[1]

describe('the value in a message', () => {
  test.each<[string, unknown, string]>([
    ['a text', secret, 'a string (not shown)'],
    ['an empty string', '', 'an empty string'],
    ['a number', 70_000, '70000'],
    ['true', true, 'true'],
    ['null', null, 'null'],
    ['nothing', undefined, 'undefined'],
    ['a function', () => secret, 'a function'],
    ['a list', [secret], 'an array'],
    ['an empty list', [], 'an empty array'],
    ['bytes', Buffer.from(secret), 'bytes'],
    ['an object', { password: secret, host: 'a' }, '{ password, host }'],
    ['an object with its own words', { toString: () => secret }, '{ toString }'],
    ['a date', new Date(Number.NaN), 'Invalid Date'],
  ])('%s', (_what, value, expected) => expect(said(value)).toBe(expected))

  test('words, where the option takes words, and no address and no key in place of them', () => {
    expect(said(quoted('cloud'))).toBe('"cloud"')
    expect(said(quoted(['a', 'b']))).toBe('[a, b]')
    expect(said(quoted(5))).toBe('5')
    for (const value of [address, pem, 'x'.repeat(201), 'user:hunter2@host']) {
      expect(said(quoted(value))).toBe('a string (not shown)')
      expect(said(quoted(['a', value]))).toBe('an array')
    }
    expect(said(described('7 characters long'))).toBe('7 characters long')
  })

  test('not even the form of a secret', () => {
    expect(said(hidden(12_345))).toBe('a number (not shown)')
    expect(said(hidden([secret]))).toBe('a list (not shown)')
    expect(said(hidden({ [secret]: 1 }))).toBe('an object (not shown)')
    expect(said(hidden(secret))).toBe('a string (not shown)')
    expect(said(hidden(''))).toBe('an empty string')
    expect(said(hidden(undefined))).toBe('undefined')
  })

  test('of options that are a text, or have a name that no one knows, no value', () => {
    expect(() => checkOptions('cookie', secret as never, ['secret'])).toThrow('"cookie" is a string (not shown)')
    expect(() => checkOptions('cookie', { secert: secret }, ['secret'])).toThrow(
      /^Unknown option "cookie\.secert"\. Did you mean "secret"\? Known options: secret$/,
    )
    expect(() => sizeOption('limit', 'much')).toThrow('"limit" is "much"')
  })
})
