import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { createEnvSchema, definePlugin, type EnvFileOptions, type EnvSchema, Server } from 'framework'
import { env } from 'framework/plugins/env'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jsonFault } from '../../../plugins/shared/values/json-fault.ts'
import { makePipe } from '../../support/pipe.ts'

let folder: string
let before: string
beforeEach(() => {
  before = process.cwd()
  folder = mkdtempSync(join(tmpdir(), 'framework-env-'))
  process.chdir(folder)
})
afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true, force: true })
})

const write = (file: string, content: string | object) =>
  writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))

/** Without the environment of the test run. */
const withEnv = (environment: Record<string, string> = {}): EnvFileOptions => ({ environment })

/** The message of the error, which it must be. */
function problemsOf(run: () => unknown): readonly string[] {
  try {
    run()
  } catch (error) {
    expect(error).toMatchObject({ code: 'EnvError', status: 500 })
    return (error as { problems: string[] }).problems
  }
  throw new Error('nothing was refused')
}
const refused = (build: Parameters<typeof createEnvSchema>[0], options: EnvFileOptions = withEnv()) =>
  problemsOf(() => createEnvSchema(build, options))

describe('the types of variables', () => {
  const read = (raw: string, type: (schema: EnvSchema) => ReturnType<EnvSchema['string']> | object): unknown =>
    createEnvSchema((schema) => ({ A: type(schema) as ReturnType<EnvSchema['string']> }), withEnv({ A: raw })).get('A')

  test.each([
    ['5', 5],
    ['-0.5', -0.5],
    [' 1e3 ', 1000],
    ['.5', 0.5],
  ])('%j is a number', (raw, value) => expect(read(raw, (s) => s.number())).toBe(value))

  test.each(['0x10', 'Infinity', 'NaN', '1,5', '5 apples', '1_000', ' ', '1e999'])('%j is not a number', (raw) => {
    expect(problemsOf(() => read(raw, (s) => s.number()))).toEqual(['A is not valid; it takes a number'])
  })

  test.each([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['yes', true],
    ['on', true],
    ['false', false],
    ['0', false],
    ['No', false],
    ['off ', false],
  ])('%j is the boolean %j', (raw, value) => expect(read(raw, (s) => s.boolean())).toBe(value))

  test.each(['2', 'ja', 't'])('%j is not a boolean', (raw) => {
    expect(problemsOf(() => read(raw, (s) => s.boolean()))[0]).toMatch(/^A is not valid; it takes "true" or "false"/)
  })

  test('one of some values, numbers too', () => {
    expect(read('b', (s) => s.enum(['a', 'b'] as const))).toBe('b')
    expect(read('2', (s) => s.enum([1, 2] as const))).toBe(2)
    expect(problemsOf(() => read('c', (s) => s.enum(['a', 'b'] as const)))).toEqual([
      'A is not valid; it takes one of "a", "b"',
    ])
  })

  test('lists, with commas or as JSON', () => {
    expect(read('a, b,c', (s) => s.array())).toEqual(['a', 'b', 'c'])
    expect(read('["a, b", 5, null]', (s) => s.array())).toEqual(['a, b', 5, null])
    expect(read('1, 2', (s) => s.array(s.number()))).toEqual([1, 2])
    expect(read('[1, "2"]', (s) => s.array(s.number()))).toEqual([1, 2])
    expect(read('[{"a":1},{"a":2,"b":3}]', (s) => s.array(s.object({ a: s.number() })))).toEqual([{ a: 1 }, { a: 2 }])
    expect(read('yes,off', (s) => s.array(s.boolean()))).toEqual([true, false])
    expect(problemsOf(() => read('1,,x', (s) => s.array(s.number())))).toEqual([
      'A[1] is empty; it takes a number',
      'A[2] is not valid; it takes a number',
    ])
    expect(problemsOf(() => read('[1', (s) => s.array()))[0]).toMatch(/^A is not valid; it takes a list/)
  })

  test('objects to any depth, with lists inside', () => {
    const type = (s: EnvSchema) =>
      s.object({
        db: s.object({ hosts: s.array(s.string()), port: s.number({ default: 5432 }) }),
        x: s.string({ optional: true }),
      })
    expect(read('{"db":{"hosts":["a"],"other":1}}', type)).toEqual({ db: { hosts: ['a'], port: 5432 }, x: undefined })
    expect(problemsOf(() => read('{"db":{"hosts":["a",{}],"port":"x"},"x":1}', type))).toEqual([
      'A.db.hosts[1] is not valid; it takes text',
      'A.db.port is not valid; it takes a number',
      'A.x is not valid; it takes text',
    ])
    expect(problemsOf(() => read('[]', type))).toEqual(['A is not valid; it takes a JSON object with db, x'])
  })

  test('whatever a function makes of it', () => {
    expect(read('http://a.test/', (s) => s.custom((raw) => new URL(raw).host))).toBe('a.test')
    const fail = (message: string, secret = false) =>
      problemsOf(() =>
        read('hunter2', (s) =>
          s.custom(
            (): string => {
              throw new Error(message)
            },
            { secret },
          ),
        ),
      )
    expect(fail('must be an address')).toEqual(['A does not pass its check: must be an address'])
    expect(fail('hunter2 is too short')).toEqual(['A does not pass its check'])
    expect(fail('Invalid: received "Hunter…"')).toEqual(['A does not pass its check'])
    expect(fail(`not\n  ${'x'.repeat(1000)}`)).toEqual([`A does not pass its check: not ${'x'.repeat(296)}`])
    expect(fail('hunter is the beginning', true)).toEqual(['A does not pass its check'])
    expect(
      problemsOf(() =>
        read('a', (s) =>
          s.custom(async () => {
            throw new Error('lost')
          }),
        ),
      ),
    ).toEqual(['A has a custom check that is asynchronous; make it synchronous'])
  })

  test('absent and empty: an error, a default or nothing', () => {
    const build = (s: EnvSchema) => ({
      A: s.string({ default: 'a' }),
      B: s.number({ optional: true }),
      C: s.boolean({ default: false }),
      D: s.string({ default: '' }),
    })
    for (const environment of [{}, { A: '', B: '', C: '', D: '' }]) {
      const env = createEnvSchema(build, { environment })
      const read = (name: string) => env.get(name)
      expect([env.get('A'), read('B'), read('C'), read('D')]).toEqual(['a', undefined, false, ''])
    }
    expect(refused((s) => ({ A: s.string(), B: s.number() }), withEnv({ B: '' }))).toEqual([
      'A is missing; it takes text',
      'B is empty; it takes a number',
    ])
  })
})

describe('files', () => {
  test('in the form of dotenv', () => {
    write('.env', '\uFEFFA=1\r\nexport B="two\nlines" # note\r\n# C=3\r\nD=\'$A\'\r\nA=2\r\n')
    const env = createEnvSchema((s) => ({ A: s.number() }), withEnv())
    const read = (name: string) => env.get(name)
    expect([env.get('A'), read('B'), read('C'), read('D')]).toEqual([2, 'two\nlines', undefined, '$A'])
  })

  test('in JSON, nested, known by the content', () => {
    const content = {
      port: 5,
      on: true,
      hosts: ['a', 'b'],
      db: { name: 'x', pool: { max: 3 } },
      free: { a: [1] },
      none: null,
    }
    write('.env', ` ${JSON.stringify(content)}`)
    const env = createEnvSchema(
      (s) => ({
        port: s.number(),
        on: s.boolean(),
        hosts: s.array(s.string()),
        db: s.object({ name: s.string(), pool: s.object({ max: s.number() }) }),
        none: s.string({ optional: true }),
        text: s.custom((raw) => raw, { optional: true }),
      }),
      withEnv({ port: '6' }),
    )
    expect(env.get('port')).toBe(6)
    expect(env.get('on')).toBe(true)
    expect(env.get('hosts')).toEqual(['a', 'b'])
    expect(env.get('db')).toEqual({ name: 'x', pool: { max: 3 } })
    expect(env.get('free' as string)).toEqual({ a: [1] })
    expect(refused((s) => ({ port: s.string(), db: s.object({ name: s.number() }) }))).toEqual([
      'port (of .env) is not valid; it takes text',
      'db.name (of .env) is not valid; it takes a number',
    ])
    expect(createEnvSchema((s) => ({ db: s.custom((raw) => raw) }), withEnv()).get('db')).toBe(
      '{"name":"x","pool":{"max":3}}',
    )
  })

  test('each of them wins over those before it, and the real environment over all', () => {
    const all = ['.env', '.env.production', '.env.local', '.env.production.local']
    all.forEach((file, index) => {
      write(
        file,
        all
          .slice(index)
          .map((_, later) => `V${index + later}=${file}`)
          .join('\n'),
      )
    })
    const seen = (environment: Record<string, string>) => {
      const env = createEnvSchema(undefined, { environment })
      return [0, 1, 2, 3].map((n) => env.get(`V${n}`))
    }
    expect(seen({ NODE_ENV: 'production' })).toEqual(all)
    expect(seen({ NODE_ENV: 'production', V3: 'real' })).toEqual([...all.slice(0, 3), 'real'])
    expect(seen({})).toEqual(['.env', '.env', '.env.local', '.env.local'])
    write('.env.test', 'V3=test')
    expect(seen({ NODE_ENV: 'test' })).toEqual(['.env', '.env', '.env', 'test'])
  })

  test('a file of another name, whose siblings are found too', () => {
    write('app.json', { A: 1, B: 1 })
    write('app.production.json', { B: 2 })
    write('app.local.json', '{}')
    const env = createEnvSchema(undefined, { file: 'app.json', environment: { NODE_ENV: 'production' } })
    expect([env.get('A'), env.get('B')]).toEqual([1, 2])
    expect(createEnvSchema(undefined, { file: false, environment: {} }).get('A')).toBeUndefined()
    expect(createEnvSchema(undefined, { file: join(folder, 'app.json'), environment: {} }).get('A')).toBe(1)
  })

  test('the default may be missing, one that is named may not', () => {
    expect(createEnvSchema(undefined, withEnv()).get('A')).toBeUndefined()
    expect(refused(undefined, { file: 'a.env', environment: {} })).toEqual([
      `the file a.env does not exist in ${process.cwd()}`,
    ])
    const file = join(folder, 'a.env')
    expect(refused(undefined, { file, environment: {} })).toEqual([`the file ${file} does not exist`])
    symlinkSync('shared.env', join(folder, '.env'))
    expect(refused(undefined)).toEqual(['the file .env is a link to shared.env, which does not exist'])
  })

  test.each([
    ['', 'line 1, column 1, where "{" is expected'],
    ['A=hunter2', 'line 1, column 1, where "{" is expected'],
    ['\n "hunter2"', 'line 2, column 2, where "{" is expected'],
    ['["hunter2"]', 'line 1, column 1, where "{" is expected'],
    ['{"A":"hunter2"', 'line 1, column 15, where "," or "}" is expected'],
    ['{\r\n  "A": "hunter2"\r\n  "B": 1\r\n}', 'line 3, column 3, where "," or "}" is expected'],
    ['{\n  "A": "hunter2",\n}', 'line 3, column 1, where a name in double quotes is expected'],
    ['{ // hunter2', 'line 1, column 3, where a name in double quotes or "}" is expected'],
    ['{"A" "hunter2"}', 'line 1, column 6, where ":" is expected'],
    ['{"A": hunter2}', 'line 1, column 7, where a value is expected'],
    ["{'A': 'hunter2'}", 'line 1, column 2, where a name in double quotes or "}" is expected'],
    ['{"A": ["hunter2", ]}', 'line 1, column 19, where a value is expected'],
    ['{"A": [hunter2]}', 'line 1, column 8, where a value or "]" is expected'],
    ['{"A": [1 2]}', 'line 1, column 10, where "," or "]" is expected'],
    ['{"A": 01}', 'line 1, column 8, where "," or "}" is expected'],
    ['{"A": truth}', 'line 1, column 7, where a value is expected'],
    ['{"A": "hunt\ner2"}', 'line 1, column 12, where the closing double quote is expected'],
    ['{"A": "C:\\hunter2"}', 'line 1, column 10, where a JSON escape sequence is expected'],
    ['{"A\\x": 1}', 'line 1, column 4, where a JSON escape sequence is expected'],
    ['{"A": {"B": []}}}', 'line 1, column 17, where the end of the file is expected'],
    [`{"A": ${'['.repeat(90_000)}`, 'line 1, column 90007, where a value or "]" is expected'],
  ])('a file whose name says JSON is not read in another way, and the place of its mistake is reported: %j', (text, why) => {
    write('app.json', text)
    const problems = refused(undefined, { file: 'app.json', environment: {} })
    expect(problems).toEqual([`the file app.json is not a JSON object: ${why}`])
    write('app.json', '{}')
    write('app.local.json', text)
    expect(refused(undefined, { file: 'app.json', environment: {} })[0]).toContain(
      'app.local.json is not a JSON object',
    )
  })

  test('a text that JSON.parse accepts is never reported', () => {
    const text = JSON.stringify(
      { a: [{}, [], [[]], -0.5e-7, 1e3, true, false, null, '"\\/\b\u2028é\u0000'], '': { b: {} } },
      null,
      '\t',
    )
    expect(jsonFault(text)).toBeUndefined()
    const alphabet = ['{', '}', '[', ']', ',', ':', '"', '\\', 'a', '1', '-', '.', 'e', ' ', '\n', 'null', '"a"']
    let seed = 7
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    for (let i = 0; i < 5000; i++) {
      const at = next(text.length)
      const changed = text.slice(0, at) + alphabet[next(alphabet.length)] + text.slice(at + next(3))
      let isObject = true
      try {
        isObject = !Array.isArray(JSON.parse(changed))
      } catch {
        isObject = false
      }
      expect([changed, jsonFault(changed) === undefined]).toEqual([changed, isObject])
    }
  })

  test('an unreadable value is reported beside everything else', () => {
    const build = (s: EnvSchema) => ({ A: s.string() })
    const why = (content: string) => {
      write('.env', content)
      return refused(build)
    }
    const reaching =
      'the file .env has a name that would change a prototype: "__proto__", or "constructor" with "prototype" in it'
    const begins = 'the file .env is not a JSON object: line 1, column'
    const missing = 'A is missing; it takes text'
    expect(why('{"A":"hunter2"')).toEqual([`${begins} 15, where "," or "}" is expected`, missing])
    expect(why('["hunter2"]')).toEqual([`${begins} 1, where "{" is expected`, missing])
    expect(why('{"__proto__":{"A":"x"}}')).toEqual([reaching, missing])
    expect(why('{"db":{"constructor":{"prototype":{"A":"x"}}}}')).toEqual([reaching, missing])
    writeFileSync(join(folder, '.env'), Buffer.from('\uFEFFA=hunter2\n', 'utf16le'))
    expect(refused(build)).toEqual(['the file .env cannot be read (not UTF-8)', missing])
    expect(why('x'.repeat(10_000_000))).toEqual(['the file .env cannot be read (larger than 100 kB)', missing])
    expect(why('\n'.repeat(90_000))).toEqual([
      'the file .env has more than 1000 spaces or empty lines in a row',
      missing,
    ])
    expect(refused(build, { file: '.', environment: {} })).toEqual(['the file . is a folder, not a file', missing])
    const pipe = makePipe(join(folder, 'pipe'))
    expect(refused(build, { file: pipe, environment: {} })).toEqual([
      `the file ${pipe} is a named pipe, not a file`,
      missing,
    ])
    expect(refused(build, withEnv({ NODE_ENV: '../../etc' }))[0]).toBe(
      'NODE_ENV is not valid; it takes letters, digits, "_", "-" and single dots',
    )
    write('.env', 'A=1')
    write('.env.staging.eu', 'A=2')
    expect(createEnvSchema(build, withEnv({ NODE_ENV: 'staging.eu' })).get('A')).toBe('2')
  })
})

describe('safety', () => {
  test('every problem is reported at once, and no value', () => {
    write('.env', 'SECRET=hunter2-a\nPORT=hunter2-b\n')
    write('.env.local', '{"LEVEL":"hunter2-c","DB":{"port":"hunter2-d"}}')
    try {
      createEnvSchema(
        (s) => ({
          SECRET: s.custom((raw) => JSON.parse(raw), { secret: true }),
          PORT: s.number(),
          LEVEL: s.enum(['a', 'b'] as const),
          DB: s.object({ port: s.number(), name: s.string({ secret: true }) }),
          GONE: s.array(s.string()),
        }),
        withEnv(),
      )
      expect.unreachable()
    } catch (error) {
      expect(inspect(error, { depth: 9 })).not.toContain('hunter2')
      expect((error as Error).message).toBe(
        [
          'the environment cannot be used (read: .env, .env.local and the environment of the process):',
          'SECRET (of .env) does not pass its check',
          'PORT (of .env) is not valid; it takes a number',
          'LEVEL (of .env.local) is not valid; it takes one of "a", "b"',
          'DB.port (of .env.local) is not valid; it takes a number',
          'DB.name (of .env.local) is missing; it takes text',
          'GONE is missing; it takes a list, each text: values separated by commas, or a JSON array',
        ].join('\n  '),
      )
    }
  })

  test('printing shows nothing', () => {
    write('.env', 'FRAMEWORK_ENV_TEST=hunter2\n')
    const env = createEnvSchema((s) => ({ FRAMEWORK_ENV_TEST: s.string() }), withEnv())
    expect(env.get('FRAMEWORK_ENV_TEST')).toBe('hunter2')
    expect(`${inspect(env, { depth: 9, showHidden: true })}${JSON.stringify(env)}`).not.toContain('hunter2')
  })

  test('names of prototypes are only names', () => {
    write('.env', '__proto__=a\nconstructor=b\n')
    const env = createEnvSchema(undefined, withEnv())
    expect([env.get('toString'), env.get('hasOwnProperty'), env.get('constructor')]).toEqual([
      undefined,
      undefined,
      'b',
    ])
    expect(({} as { a?: unknown }).a).toBeUndefined()
    expect(refused((s) => ({ toString: s.string() }) as never)).toEqual(['toString is missing; it takes text'])
    const nested = createEnvSchema(
      (s) => ({ A: s.object({ toString: s.string({ optional: true }) }) }),
      withEnv({ A: '{}' }),
    )
    expect(nested.get('A').toString).toBeUndefined()
  })

  test.each([
    ['an option that does not exist', () => createEnvSchema(undefined, { path: 'a' } as never), 'OptionError'],
    ['a file that is not a path', () => createEnvSchema(undefined, { file: 5 } as never), 'OptionError'],
    [
      'an option of a builder',
      () => createEnvSchema((s) => ({ A: s.string({ defualt: 'a' } as never) })),
      'OptionError',
    ],
    [
      'a default beside optional',
      () => createEnvSchema((s) => ({ A: s.string({ default: 'a', optional: true } as never) })),
      'OptionError',
    ],
    ['a member that no builder made', () => createEnvSchema(() => ({ A: String }) as never), 'OptionError'],
    ['an enum of nothing', () => createEnvSchema((s) => ({ A: s.enum([]) })), 'OptionError'],
    [
      'a default that is not a value of the type',
      () => createEnvSchema((s) => ({ A: s.number({ default: 'a' as never }) })),
      'OptionError',
    ],
    ['a default of null', () => createEnvSchema((s) => ({ A: s.string({ default: null as never }) })), 'OptionError'],
    [
      'a default that is not one of them',
      () => createEnvSchema((s) => ({ A: s.enum(['a', 'b'], { default: 'c' as never }) })),
      'OptionError',
    ],
    [
      'a list with one of another type as default',
      () => createEnvSchema((s) => ({ A: s.array(s.number(), { default: ['a' as never] }) })),
      'OptionError',
    ],
    ['a function that forgets to return', () => createEnvSchema(() => undefined as never), 'OptionError'],
    ['a function that is async', () => createEnvSchema((async () => ({})) as never), 'OptionError'],
    ['no function', () => createEnvSchema({} as never), 'OptionError'],
  ])('%s is an error', (_what, run, code) => expect(run).toThrow(expect.objectContaining({ code })))
})

describe('the plugin', () => {
  const quiet = { port: 0, host: '127.0.0.1', gracefulShutdown: false } as const

  test('comes first in the object form, and fails the boot before anything connects', async () => {
    const connected: string[] = []
    const database = definePlugin({ name: 'database', setup: () => void connected.push('database') })
    const server = new Server({
      ...quiet,
      plugins: { database: database(), env: { environment: {}, schema: (s) => ({ DATABASE_URL: s.string() }) } },
    })
    await expect(server.listen()).rejects.toMatchObject({
      code: 'PluginSetupError',
      cause: { code: 'EnvError', problems: ['DATABASE_URL is missing; it takes text'] },
    })
    expect(connected).toEqual([])
  })

  test('reports wrong options, those of the schema too, where it is registered', () => {
    const make = (options: unknown) => () => new Server({ ...quiet, plugins: { env: options as never } })
    expect(make({ file: 5, schema: () => ({ A: String }) })).toThrow(
      /^2 options are wrong:\n- the option "plugins\.env\.schema\.A" is a function; it takes the result of a builder: .*\n- the option "plugins\.env\.file" is 5; it takes a path, or false$/,
    )
    const misspelt = (s: EnvSchema) => ({ A: s.string({ defualt: 'a' } as never) })
    expect(make({ schema: misspelt })).toThrow('Unknown option "schema.string.defualt". Did you mean "default"?')
    expect(make({ file: 'https://a:b@c/.env' })).toThrow('"plugins.env.file" is a string (not shown); it takes a path')
    expect(make({ schema: 'A' })).toThrow('"plugins.env.schema" is a string (not shown); it takes a function')
  })

  test('lists nothing of the environment that it is given', () => {
    const server = new Server({ ...quiet, plugins: { env: { environment: { KEY: 'hunter2' } } } })
    expect(JSON.stringify(server.plugins)).not.toContain('hunter2')
  })

  test('is at services.env, before boot too', async () => {
    write('.env', 'A=5\nB=free\n')
    const server = new Server({ ...quiet, plugins: [env({ environment: {}, schema: (s) => ({ A: s.number() }) })] })
    expect(server.services.get('env').get('A')).toBe(5)
    server.get('/', () => ({ a: server.services.env.get('A'), b: server.services.env.get('B') }))
    const res = await server.inject.get('/')
    res.assertBodyDeepEqual({ a: 5, b: 'free' })
    await server.close()
  })
})
