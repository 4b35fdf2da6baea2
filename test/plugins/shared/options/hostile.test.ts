import { createEnvSchema, definePlugin, option, RouteCollection, Server } from 'framework'
import { describe, expect, test } from 'vitest'

const listed = (reader: ReturnType<typeof option.shape>, given: unknown) => {
  const server = new Server([definePlugin({ name: 'listed', options: reader })(given as undefined)])
  return server.plugins.children.find(({ name }) => name === 'listed')?.settings
}

/** Invalid options, in which no member would be found. */
const others: [string, () => unknown][] = [
  ['Map', () => new Map([['limit', 1]])],
  ['Promise', () => Promise.resolve({ limit: 1 })],
  ['URL', () => new URL('redis://user:hunter2@127.0.0.1')],
  ['Error', () => new Error('hunter2')],
]

describe('a value that is not an object of options is refused as a whole', () => {
  test.each(others)('a %s', (kind, make) => {
    const said = `the option "it" is an object of the kind ${kind}; it takes an object`
    const checks = [
      option.shape({ limit: option.int() }),
      option.shape({}, () => 1),
      option.record(option.value('any')),
    ]
    for (const check of checks) expect(() => check.parse(make(), 'it')).toThrow(said)
    expect(() => option.shape({}).parse(make(), 'it')).not.toThrow('hunter2')
  })

  test('bytes, which have a name for each', () => {
    expect(() => option.shape({}).parse(Buffer.from('hunter2'), 'it')).toThrow('the option "it" is bytes; it takes')
  })

  test('and a namespace is one', async () => {
    const namespace: object = await import('../../../../plugins/shared/options/size.ts')
    const anyFunctions = option.record(option.value<unknown>('a value'))
    expect(Object.keys(anyFunctions.parse({ ...namespace }, 'it'))).toContain('parseSize')
  })
})

test('the names of a record may be inherited, and are texts', () => {
  const checks = option.record(option.fn())
  const inherited = Object.create({ database: () => true }) as {}
  expect(Object.keys(checks.parse(inherited, 'checks'))).toEqual(['database'])
  expect(() => checks.parse({ [Symbol('database')]: () => true }, 'checks')).toThrow('"checks.Symbol(database)"')
})

test('a symbol is not a name, also where other names are read by a function', () => {
  const open = option.shape({ memory: option.flag() }, (_name, given) => given)
  expect(() => open.parse({ [Symbol('mine')]: {} }, 'engines')).toThrow('Unknown option "engines.Symbol(mine)"')
})

test('options after the first argument may be inherited, and are an object', () => {
  const environment = { PORT: '1' }
  const inherited = Object.create({ file: false, environment }) as {}
  expect(createEnvSchema((schema) => ({ PORT: schema.number() }), inherited).get('PORT')).toBe(1)
  expect(() => createEnvSchema(() => ({}), Promise.resolve({ file: false }) as {})).toThrow(
    'the option "env" is an object of the kind Promise; it takes an object with schema, file, environment',
  )
})

test('a pattern that is global fits the same text again', () => {
  const name = option.name(/^a/g)
  expect([name.parse('ab', 'it'), name.parse('ab', 'it')]).toEqual(['ab', 'ab'])
})

test('a list with holes is wrong where the hole is', () => {
  const guards = option.list(option.fn('a middleware'))
  expect(() => guards.parse(new Array(1), 'guards')).toThrow('"guards[0]" is missing; it takes a middleware')
})

test('a member of the prototype of all objects is not an option', () => {
  const options = option.shape({ origin: option.name().default('none'), policy: option.fn().guard() })
  const overrides = option.overrides(options)
  const everywhere = Object.prototype as { origin?: string; policy?: undefined }
  Object.assign(everywhere, { origin: '*', policy: undefined })
  try {
    expect(options.parse({}, 'it')).toEqual({ origin: 'none' })
    const settings = { origin: 'none', policy: undefined }
    expect(overrides({}, undefined as never, { settings })).toEqual(settings)
    expect(listed(options as never, {})).toEqual({ origin: 'none' })
    expect(options.parse({ origin: 'a' }, 'it')).toEqual({ origin: 'a' })
  } finally {
    delete everywhere.origin
    delete everywhere.policy
  }
})

describe('messages', () => {
  test('of very many mistakes have the first', () => {
    const { message } = failure(() => option.list(option.int()).parse(new Array(1000).fill('x'), 'it'))
    expect(message).toMatch(/^1000 options are wrong:\n- the option "it\[0\]"/)
    expect(message).toMatch(/\n- and 980 more$/)
    expect(message.length).toBeLessThan(2000)
  })

  test('show no long lists, and no symbols', () => {
    const mode = option.oneOf('on', 'off')
    expect(() => mode.parse(new Array(1000).fill('on'), 'it')).toThrow('the option "it" is an array; it takes')
    expect(() => mode.parse(Symbol('hunter2'), 'it')).toThrow('the option "it" is a symbol; it takes')
  })

  test('without a path speak of the options', () => {
    expect(() => option.shape({}).parse('hunter2')).toThrow('the option "options" is a string (not shown); it takes')
  })

  test('of schemas do not show the text that was given', () => {
    const issues = [{ message: 'Expected >=16 but received "hunter2"', path: ['key'] }]
    const schema = { '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ issues }) } }
    const signed = definePlugin({ name: 'signed', options: schema })
    expect(() => new Server([signed({ key: 'hunter2' } as never)])).toThrow(
      'the option "signed.key": Expected >=16 but received a string (not shown)',
    )
  })
})

function failure(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}

describe('a reader', () => {
  const register = (options: unknown) => () =>
    new Server([definePlugin({ name: 'mine', options: options as (given: undefined) => object })()])
  const standard = (validate: () => unknown) => ({ '~standard': { version: 1, vendor: 'test', validate } })
  const fails = () => {
    throw new Error('kaput')
  }

  test.each<[string, unknown, string]>([
    ['a function', fails, 'kaput'],
    ['an object', { read: fails }, 'kaput'],
    ['a schema', standard(fails), 'kaput'],
    ['a class', class Settings {}, 'Class constructor Settings cannot be invoked'],
  ])('that throws is named with its plugin: %s', (_what, reader, why) => {
    const error = failure(register(reader)) as Error & { code: string }
    expect(error.code).toBe('PluginSetupError')
    expect(error.message).toContain(`the plugin "mine" failed in options: ${why}`)
    expect(error.cause).toBeInstanceOf(Error)
  })

  test.each<[string, unknown]>([
    ['an object', { read: () => Promise.reject(new Error('no one hears of this')) }],
    ['a schema', standard(() => Promise.reject(new Error('no one hears of this')))],
    // biome-ignore lint/suspicious/noThenProperty: what is asynchronous need be no promise
    ['a function', () => ({ then() {} })],
    ['a check', option.shape({}).into(async () => 1)],
  ])('that is asynchronous is refused: %s', (_what, reader) => {
    expect(register(reader)).toThrow('the options "mine" have an asynchronous schema')
  })

  test('that refuses and does not say why is heard', () => {
    expect(register(standard(() => ({ issues: [] })))).toThrow('the options "mine" do not match their schema')
  })

  test('of a route that throws is named with the route', async () => {
    const fussy = definePlugin({ name: 'fussy', routeOptions: { fuss: fails } })
    await using server = new Server({ router: new RouteCollection(), plugins: [fussy()] })
    server.get('/door', { fuss: 1 } as {}, () => 1)
    await expect(server.ready()).rejects.toThrow(
      /^GET \/door \(registered at .+\): the option "fuss" cannot be read: kaput/,
    )
  })
})

test('a listing shows nothing that was written into the options since', () => {
  const options = option.shape({ limit: option.int(), nested: option.shape({ key: option.text().secret() }) })
  const given: { limit: unknown; nested: unknown } = { limit: 1, nested: { key: 'hunter2' } }
  const server = new Server([definePlugin({ name: 'changed', options })(given as {})])
  Object.assign(given, { limit: 'hunter2', nested: null })
  expect(server.plugins.children.find(({ name }) => name === 'changed')?.settings).toEqual({})
})
