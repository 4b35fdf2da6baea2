import { definePlugin, option, Server } from 'framework'
import { describe, expect, test } from 'vitest'

const engine = option.shape({ host: option.name().default('localhost'), password: option.text().secret() })

describe('a check', () => {
  test('reads the options of a call, and reports all that is wrong with them at once', () => {
    expect(engine.parse(undefined, 'connect')).toEqual({ host: 'localhost' })
    expect(() => engine.parse({ host: 5, pasword: 'hunter2' }, 'connect')).toThrow(
      /^OPTION: 2 options are wrong:\n- "connect\.pasword" is not an option\. Did you mean "password"\?[^\n]*\n- the option "connect\.host" is 5;/,
    )
  })

  test('of an object that is optional leaves it undefined', () => {
    const page = option.shape({ page: option.shape({ path: option.name().default('/') }).optional() })
    expect(page.parse({}, 'page')).toEqual({})
    expect(page.parse({ page: {} }, 'page')).toEqual({ page: { path: '/' } })
  })

  test('of an object that must be given says what it needs', () => {
    const mail = option.shape({ to: option.name().required() })
    expect(() => mail.parse(undefined, 'mail')).toThrow('the option "mail.to" is undefined; it takes a text')
    expect(() => mail.required().parse(undefined, 'mail')).toThrow('the option "mail" is undefined; it takes an object')
    const needing = mail.required('{ to: "somebody" }')
    expect(() => needing.parse(undefined, 'mail')).toThrow(/^OPTION: "mail" needs \{ to: "somebody" \}$/)
    expect(needing.parse({ to: 'a' }, 'mail')).toEqual({ to: 'a' })
  })

  test('of several has the members of the one that is an object', () => {
    const page = option.shape({ path: option.name().default('/') })
    expect(option.either(option.flag(), option.list(page), page).parts.members).toBe(page.parts.members)
  })

  test('of an object may read members of other names by a function', () => {
    const engines = option.shape({ memory: engine.optional() }, (name, given, place) =>
      name === 'memry' ? place.unknown(name, ['memory']) : engine.read(given, place.in(name)),
    )
    expect(engines.parse({ mine: { host: 'a' }, gone: undefined }, 'engines')).toEqual({ mine: { host: 'a' } })
    expect(() => engines.parse({ memry: {} }, 'engines')).toThrow(
      '"engines.memry" is not an option. Did you mean "memory"?',
    )
    expect(() => engines.parse({ mine: { host: 5 } }, 'engines')).toThrow('"engines.mine.host" is 5')
  })
})

test('the settings of a plugin are listed without the secrets in its lists, records and alternatives', () => {
  const options = option.shape(
    {
      list: option.list(engine),
      record: option.record(engine),
      either: option.either(option.flag(), engine),
      own: option.having<{ get(): void }>(['get'], 'a store'),
      none: engine.optional(),
    },
    () => {},
  )
  const one = { host: 'a', password: 'hunter2' }
  const listed = definePlugin({ name: 'listed', options })
  const own = { get() {}, password: 'hunter2' }
  const given = { list: [one], record: { one }, either: one, own, other: one }
  const { plugins } = new Server([listed(given)])
  const shown = { host: 'a', password: '(secret)' }
  expect(plugins.children.find(({ name }) => name === 'listed')?.settings).toEqual({
    list: [shown],
    record: { one: shown },
    either: shown,
    own: '(object)',
  })
})

test('an option that holds itself is listed all the same', () => {
  const cycle: Record<string, unknown> = { list: [], name: 'a' }
  Object.assign(cycle, { itself: cycle })
  const listed = definePlugin({ name: 'listed', options: option.shape({ cycle: option.value<object>('anything') }) })
  const { plugins } = new Server([listed({ cycle })])
  expect(JSON.stringify(plugins)).toContain('"itself":"(object)"')
})
