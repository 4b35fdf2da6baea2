import { definePlugin, option } from 'framework/kernel'
import { afterEach, expect, test, vi } from 'vitest'
import { RouteCollection, Server } from '../../../../index.ts'

afterEach(() => vi.unstubAllEnvs())

const shape = option.shape({
  url: option.text().required().env('OPTION_URL').secret(),
  size: option.int({ min: 1 }).env('OPTION_SIZE').default(10),
  debug: option.flag().env('OPTION_DEBUG').default(false),
  region: option.text().env('OPTION_REGION'),
})

test('an omitted option is read from its variable; text becomes the number or the flag that the check takes', () => {
  vi.stubEnv('OPTION_URL', 'postgres://localhost/app')
  vi.stubEnv('OPTION_SIZE', '25')
  vi.stubEnv('OPTION_DEBUG', 'true')
  expect(shape.parse({})).toEqual({ url: 'postgres://localhost/app', size: 25, debug: true, region: undefined })
  expect(shape.parse({ url: 'a', size: 5, debug: false, region: 'eu' })).toEqual({
    ...{ url: 'a', size: 5, debug: false, region: 'eu' },
  })
})

test('an empty variable counts as missing', () => {
  vi.stubEnv('OPTION_URL', 'a')
  vi.stubEnv('OPTION_SIZE', '')
  expect(shape.parse({})).toMatchObject({ size: 10, debug: false })
})

test('a missing or wrong value is reported with the name of the variable, together with the others, without a secret', () => {
  vi.stubEnv('OPTION_SIZE', 'many')
  expect(() => shape.parse({}, 'plugins.db')).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        /"plugins\.db\.url" needs a non-empty string, or OPTION_URL in the environment.*"plugins\.db\.size \(OPTION_SIZE of the environment\)" is "many"; it takes a whole number/s,
      ),
    }),
  )
})

test('a value that the reader of a check refuses is reported with the name of the variable, too', () => {
  vi.stubEnv('OPTION_REGION', 'nowhere')
  const region = option.name().into((given, place) => void place.wrong(given, 'a region'))
  expect(() => option.shape({ region: region.env('OPTION_REGION') }).parse({}, 'db')).toThrow(
    /"db\.region \(OPTION_REGION of the environment\)" is a string \(not shown\); it takes a region/,
  )
})

test('the listing of plugins shows what was read', async () => {
  vi.stubEnv('OPTION_URL', 'postgres://localhost/app')
  vi.stubEnv('OPTION_SIZE', '25')
  const database = definePlugin({ name: 'database', options: shape })
  await using server = new Server({ plugins: [database()], router: new RouteCollection() })
  const shown = server.plugins.children.find(({ name }) => name === 'database')
  expect(shown?.settings).toEqual({ url: '(secret)', size: 25, debug: false })
})

test('a default that is undefined is refused: the variable that it was read from is not set', () => {
  expect(() => option.text().default(undefined as never)).toThrow('is undefined. Use env()')
})

test('a variable with the name of a secret makes the option one, in messages and in the listing', async () => {
  vi.stubEnv('OPTION_PASSWORD', 'hunter2')
  const pin = option.shape({ pin: option.int().env('OPTION_PASSWORD') })
  expect(() => pin.parse({})).toThrow(expect.objectContaining({ message: expect.not.stringContaining('hunter2') }))
  const options = option.shape({ key: option.text().env('OPTION_PASSWORD') })
  await using server = new Server({
    plugins: [definePlugin({ name: 'signer', options })()],
    router: new RouteCollection(),
  })
  expect(server.plugins.children.find(({ name }) => name === 'signer')?.settings).toEqual({ key: '(secret)' })
})

test('a variable with the name of a member of every object is missing unless it is set', () => {
  expect(option.text().env('constructor').parse(undefined)).toBeUndefined()
  vi.stubEnv('constructor', 'set')
  expect(option.text().env('constructor').parse(undefined)).toBe('set')
})

test.each(['', 'MY-VAR', '5', 5])('a name that no variable can have is refused: %j', (name) => {
  expect(() => option.text().env(name as string)).toThrow('the name of a variable')
})
