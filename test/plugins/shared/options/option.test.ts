import { definePlugin, option, RouteCollection, type RouteOptions, Server } from 'framework'
import { type AnyCheck, OptionPlace, type OptionReader } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { memoryLogger } from '../../../support/kernel.ts'

/** What a check reads, or everything that it notes. */
function read(check: AnyCheck, given: unknown): unknown {
  const place = new OptionPlace('it')
  const value = check.read(given, place)
  return place.isFine ? value : place.problems
}

describe('checks accept what they describe', () => {
  const takes: [string, AnyCheck, unknown[], unknown[], string][] = [
    ['int', option.int({ min: 1, max: 9 }), [1, 9], [0, 10, 1.5, '5', Number.NaN], 'a whole number from 1 to 9'],
    ['number', option.number({ above: 0 }), [0.5], [0, Number.POSITIVE_INFINITY, '1'], 'a number above 0'],
    ['ms', option.ms(), [0, 2 ** 31 - 1], [-1, 2 ** 31, '5s'], 'milliseconds, 0 or more'],
    ['flag', option.flag(), [true, false], ['true', 0, null], 'true or false'],
    ['oneOf', option.oneOf('a', 'b', 'c'), ['a', 'c'], ['d', 1], '"a", "b" or "c"'],
    ['text', option.text(), ['x'], ['', 5], 'a non-empty string'],
    ['name', option.name(/^[a-z]+$/, 'small letters'), ['abc'], ['A1', ''], 'small letters'],
    ['fn', option.fn(), [() => 1], ['() => 1'], 'a function'],
    ['having', option.having<{ hit(): void }>(['hit'], 'a store'), [{ hit() {} }], [{ hit: 1 }, null], 'a store'],
    ['value', option.value('a date', (given) => given instanceof Date), [new Date(0)], ['now'], 'a date'],
    ['off', option.off(), [false], [true, 0], 'false'],
    ['either', option.either(option.flag(), option.int()), [true, 5], ['x'], 'true or false, or a whole number'],
  ]
  test.each(takes)('%s', (_name, check, right, wrong, words) => {
    for (const given of right) expect(read(check, given)).toBe(given)
    for (const given of wrong) {
      expect(read(check, given)).toEqual([expect.stringMatching(/^the option "it" is .+; it takes /)])
      expect(String(read(check, given))).toContain(words)
    }
  })

  test('size gives bytes', () => {
    expect([1024, '1kb', '1.5 MB'].map((given) => read(option.size(), given))).toEqual([1024, 1024, 1_572_864])
    expect(read(option.size(), 'much')).toEqual([expect.stringContaining('a size like "100kb"')])
  })

  test('an omitted option is undefined, the default, or wrong', () => {
    expect(read(option.int(), undefined)).toBeUndefined()
    expect(read(option.size().default('1kb'), undefined)).toBe(1024)
    expect(read(option.int().required(), undefined)).toEqual(['the option "it" is missing; it takes a whole number'])
    expect(read(option.int().default(5), null)).toEqual([expect.stringContaining('"it" is null')])
  })
})

describe('everything that is wrong is in one error', () => {
  const options = option.shape({
    limit: option.int({ min: 1 }).default(100),
    key: option.text(),
    nested: option.shape({ deep: option.list(option.shape({ mode: option.oneOf('on', 'off').required() })) }),
    names: option.record(option.int()),
  })
  const limited = definePlugin({ name: 'limited', options, setup() {} })

  test('with the path of each, the nearest name, and where it was registered', () => {
    const wrong = {
      limmit: 5,
      limit: 'ten',
      key: 5,
      nested: { deep: [{ mode: 'on' }, { mode: 'up' }, {}, { mod: 'on' }] },
      names: { one: 1, two: '2' },
    }
    const register = () => new Server([limited(wrong as never)])
    expect(register).toThrow(expect.objectContaining({ code: 'OptionError' }))
    let message = ''
    try {
      register()
    } catch (error) {
      message = (error as Error).message
    }
    expect(message.replace(/registered at .*option\.test\.ts:\d+:\d+/, 'registered at HERE')).toBe(
      `8 options are wrong:
- Unknown option "limited.limmit". Did you mean "limit"? Known options: limit, key, nested, names
- the option "limited.limit" is "ten"; it takes a whole number, 1 or more
- the option "limited.key" is 5; it takes a non-empty string
- the option "limited.nested.deep[1].mode" is "up"; it takes "on" or "off"
- the option "limited.nested.deep[2].mode" is missing; it takes "on" or "off"
- Unknown option "limited.nested.deep[3].mod". Did you mean "mode"? Known options: mode
- the option "limited.nested.deep[3].mode" is missing; it takes "on" or "off"
- the option "limited.names.two" is "2"; it takes a whole number
The plugin "limited" is registered at HERE`,
    )
  })

  test('a factory that was passed without being called is named', () => {
    const needy = definePlugin({ name: 'needy', options: option.shape({ url: option.name().required() }), setup() {} })
    // @ts-expect-error it needs options
    expect(() => new Server([needy])).toThrow('write needy({ … })')
  })

  test('the path begins where the options were written', () => {
    expect(() => new Server({ plugins: { json: { sizeLimit: 'big' } } })).toThrow('"plugins.json.sizeLimit" is "big"')
  })

  test('nothing of the plugin is left, and another try may follow', async () => {
    await using server = new Server({ router: new RouteCollection() })
    expect(() => server.register(limited({ limit: 0 }))).toThrow('limited.limit')
    server.register(limited({ limit: 1 }))
    await server.ready()
  })

  test('inherited members count', () => {
    expect(() => new Server([limited(Object.create({ limmit: 1 }) as never)])).toThrow('Did you mean "limit"')
  })
})

test('a secret is in no message and in no listing', async () => {
  const secretive = definePlugin({
    name: 'secretive',
    options: option.shape({
      password: option.text().secret().required(),
      pin: option.int().secret(),
      url: option.text(),
      keep: option.fn<() => void>(),
      port: option.int().default(80),
    }),
    setup() {},
  })
  expect(() => new Server([secretive({ password: 12_345, pin: 'p1n' } as never)])).toThrow(
    /password" is a number \(not shown\).*\n.*pin" is a string \(not shown\)/,
  )
  await using server = new Server({
    router: new RouteCollection(),
    plugins: [secretive({ password: 'pa55', url: 'redis://u:p@host', keep: () => {} })],
  })
  await server.ready()
  const { settings } = server.plugins.children.find(({ name }) => name === 'secretive')!
  expect(settings).toEqual({ password: '(secret)', url: '(text)', keep: '(function)', port: 80 })
})

describe('options are read', () => {
  test('once, at registration, for provide and setup', async () => {
    let times = 0
    const seen: unknown[] = []
    const counted = definePlugin({
      name: 'counted',
      options: (given: { by: number }) => {
        times++
        return { twice: given.by * 2 }
      },
      provide(settings) {
        seen.push(settings)
        return {}
      },
      setup: (_ctx, settings) => void seen.push(settings),
    })
    await using server = new Server([counted({ by: 2 })])
    expect(times).toBe(1)
    await server.ready()
    expect([times, seen[0], seen[1]]).toEqual([1, { twice: 4 }, { twice: 4 }])
  })

  test('by a Standard Schema, whose problems have their paths', async () => {
    const schema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate: (given: unknown) =>
          (given as { max?: unknown } | undefined)?.max === 5
            ? { value: { max: 5 } }
            : {
                issues: [
                  { message: 'must be five', path: ['max'] },
                  { message: 'odd', path: [{ key: 'list' }, 0] },
                ],
              },
        types: undefined as { input: { max: number }; output: { max: number } } | undefined,
      },
    }
    const five = definePlugin({ name: 'five', options: schema, setup: (_ctx, { max }) => void (max satisfies number) })
    await using server = new Server([five({ max: 5 })])
    await server.ready()
    expect(() => new Server([five({ max: 6 })])).toThrow(
      /- the option "five\.max": must be five\n- the option "five\.list\[0\]": odd/,
    )
  })

  test('by a Standard Schema that is a function as well, whose result would be its issues', () => {
    const schema = Object.assign((given: unknown) => ({ problems: given }), {
      '~standard': { version: 1 as const, vendor: 'test', validate: () => ({ issues: [{ message: 'must be five' }] }) },
    })
    const made = definePlugin({ name: 'called', options: schema, setup() {} })
    expect(() => new Server({ plugins: { called: made({}) } })).toThrow(/must be five/)
  })

  test("by an object of someone's own that reads, of a plugin and of a route", async () => {
    const seen: unknown[] = []
    const even: OptionReader<number, { half: number }> = {
      read: (given, place) =>
        (Number(given) % 2 === 0 ? { half: Number(given) / 2 } : void place.wrong(given, 'even')) as never,
    }
    const halved = definePlugin({
      name: 'halved',
      options: even,
      routeOptions: { share: even },
      setup: (ctx, { half }) => ctx.onRoute((route) => void seen.push(half, route.settings.share?.half)),
    })
    await using server = new Server({ router: new RouteCollection(), plugins: [halved(4)] })
    server.get('/', { share: 6 } as RouteOptions, () => 1)
    await server.ready()
    expect(seen).toEqual([2, 3])
    expect(() => new Server([halved(3)])).toThrow('the option "halved" is 3; it takes even')
  })

  test.each<[string, (given: undefined) => unknown, string]>([
    ['by a function that is asynchronous', async () => ({}), 'have an asynchronous schema'],
    [
      'by a function that rejects',
      () => Promise.reject(new Error('no one hears of this')),
      'have an asynchronous schema',
    ],
  ])('not %s', (_how, options, message) => {
    expect(() => new Server([definePlugin({ name: 'late', options, setup() {} })()])).toThrow(message)
  })

  test('combinations are checked when each option is right', () => {
    const range = option.shape({ min: option.int().default(1), max: option.int().default(10) }).into((given, place) => {
      if (given.min > given.max) place.in('max').wrong(given.max, 'no less than min')
      return [given.min, given.max]
    })
    expect(read(range, { min: 2 })).toEqual([2, 10])
    expect(read(range, { min: 20 })).toEqual(['the option "it.max" is 10; it takes no less than min'])
    expect(read(range, { min: 'x' })).toEqual([expect.stringContaining('it.min')])
  })
})

describe('options of routes', () => {
  const limits = option.shape({ limit: option.int({ min: 1 }).default(100), per: option.ms().default(1000) })
  const limitsOfRoute = option.overrides(limits)
  const makeServer = (options: object) => {
    const seen: unknown[] = []
    const limited = definePlugin({
      name: 'limited',
      options: limits,
      routeOptions: { limits: limitsOfRoute },
      setup: (ctx) => ctx.onRoute((route) => void seen.push(route.settings.limits)),
    })
    const server = new Server<{}>({
      router: new RouteCollection(),
      logger: memoryLogger(),
      plugins: [limited({ limit: 7 })],
    })
    server.get('/door', options as RouteOptions, () => 1)
    return { server, seen }
  }

  test('are read once, over those of the plugin, and seen by its hooks', async () => {
    for (const [given, meant] of [
      [{ limits: { per: 5 } }, { limit: 7, per: 5 }],
      [{ limits: false }, false],
      [{}, undefined],
    ] as const) {
      const { server, seen } = makeServer(given)
      await server.ready()
      expect(seen).toEqual([meant])
      await server.close()
    }
  })

  test.each<[object, RegExp]>([
    [{ limits: { limit: 0 } }, /the option "limits\.limit" is 0; it takes a whole number, 1 or more/],
    [{ limits: { limt: 1 } }, /Unknown option "limits\.limt"\. Did you mean "limit"\?/],
    [{ limits: true }, /the option "limits" is true; it takes false, or an object with limit, per/],
    [{ limits: { limit: 'x', pre: 1 } }, /2 options are wrong:\n- .*limits\.pre.*\n- .*limits\.limit/],
  ])('%j fails the boot, naming the route', async (options, message) => {
    const { server } = makeServer(options)
    await expect(server.ready()).rejects.toThrow(/^GET \/door \(registered at .*option\.test\.ts:\d+:\d+\)/)
    await expect(makeServer(options).server.ready()).rejects.toThrow(message)
  })

  test('two plugins that take the same one are an error that names both', async () => {
    const plugin = (name: string) => definePlugin({ name, routeOptions: { limits: limitsOfRoute as never } })()
    await using server = new Server({ router: new RouteCollection(), plugins: [plugin('one'), plugin('two')] })
    server.get('/door', () => 1)
    await expect(server.ready()).rejects.toThrow(/"one" \(registered at .+\) and "two" \(at .+\) both take/)
  })
})

const engine = option.shape({ host: option.name().default('localhost'), password: option.text().secret() })

describe('a check', () => {
  test('reads the options of a call, and reports all that is wrong with them at once', () => {
    expect(engine.parse(undefined, 'connect')).toEqual({ host: 'localhost' })
    expect(() => engine.parse({ host: 5, pasword: 'hunter2' }, 'connect')).toThrow(
      /^2 options are wrong:\n- Unknown option "connect\.pasword"\. Did you mean "password"\?[^\n]*\n- the option "connect\.host" is 5;/,
    )
  })

  test('of an object that is optional leaves it undefined', () => {
    const page = option.shape({ page: option.shape({ path: option.name().default('/') }).optional() })
    expect(page.parse({}, 'page')).toEqual({})
    expect(page.parse({ page: {} }, 'page')).toEqual({ page: { path: '/' } })
  })

  test('has a default that fits', () => {
    expect(() => option.int({ min: 5 }).default(1)).toThrow(
      /^the default of an option does not pass its check, which takes a whole number, 5 or more$/,
    )
    expect(() => option.size().default('10 kilos')).toThrow('which takes a number of bytes above 0 or a size')
    expect(option.size().default('10kb').parse(undefined)).toBe(10_240)
  })

  test('is held against a pattern that remembers nothing', () => {
    expect(() => option.text('^a' as never)).toThrow('"pattern" is a string (not shown); it takes a regular expression')
    const word = option.name(/[a-z]+/g)
    expect([word.parse('one'), word.parse('one'), word.parse('one')]).toEqual(['one', 'one', 'one'])
  })

  test('that guards is wrong where it is named and undefined, and may be left out', () => {
    const page = option.shape({ policy: option.fn('a policy').guard(), path: option.name() })
    expect(page.parse({ path: undefined }, 'page')).toEqual({})
    expect(() => page.parse({ policy: undefined }, 'page')).toThrow('"page.policy" is undefined; it takes a policy')
    expect(() => page.parse(Object.create({ policy: undefined }), 'page')).toThrow('"page.policy" is undefined')
  })

  test('of an object that must be given names its required members', () => {
    const mail = option.shape({ to: option.name().required() })
    expect(() => mail.parse(undefined, 'mail')).toThrow('the option "mail.to" is missing; it takes a non-empty string')
    expect(() => mail.required().parse(undefined, 'mail')).toThrow('the option "mail" is missing; it takes an object')
    const needing = mail.required('{ to: "someone" }')
    expect(() => needing.parse(undefined, 'mail')).toThrow(/^"mail" needs \{ to: "someone" \}$/)
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
      'Unknown option "engines.memry". Did you mean "memory"?',
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

test('an option that holds itself is listed nevertheless', () => {
  const cycle: Record<string, unknown> = { list: [], name: 'a' }
  Object.assign(cycle, { itself: cycle })
  const listed = definePlugin({ name: 'listed', options: option.shape({ cycle: option.value<object>('anything') }) })
  const { plugins } = new Server([listed({ cycle })])
  expect(JSON.stringify(plugins)).toContain('"itself":"(object)"')
})
