import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { router } from '../kernel/index.ts'
import { type CatalogKey, catalog } from '../plugins/catalog.ts'
import { type Block, markdownBlocks } from './support/docs/blocks.ts'
import { runBlock } from './support/docs/run.ts'
import { surroundings } from './support/docs/surroundings.ts'
import { readFolder } from './support/docs/texts.ts'
import { hasRedis, type RedisServer, startRedis } from './support/redis.ts'

const pages = readFolder('docs', '.md')
/** Blocks that show a file are not examples of their own: the files have tests. */
const blocks = pages
  .flatMap(({ file, text }) => markdownBlocks(file, text))
  .filter((block) => block.source === undefined && block.skip === undefined)
const runnable = blocks.filter((block) => block.noRun === undefined)
const signals = process.listenerCount('SIGTERM')
const needsRedis = ({ code }: Block) => code.includes('redis://')
/** Node.js 20 imports no TypeScript without a package for it. */
const lacksTypeScript = ({ file }: Block) =>
  process.version.startsWith('v20.') && Object.keys(surroundings[file]?.files ?? {}).some((one) => one.endsWith('.ts'))

/** Routes on the `router` of a block without a server are asked on one that has the plugin of the page. */
function pluginsOf(file: string): Partial<Record<CatalogKey, true>> {
  const key = /^docs\/plugins\/(\w+)\.md$/.exec(file)?.[1]
  return key !== undefined && key in catalog ? { [key]: true } : {}
}

let redis: RedisServer | undefined
beforeAll(async () => {
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true)
  vi.spyOn(console, 'log').mockReturnValue()
  if (hasRedis) redis = await startRedis()
})
afterAll(async () => {
  vi.restoreAllMocks()
  await redis?.stop()
})

describe('the examples of the documentation run', () => {
  for (const block of runnable) {
    test.skipIf((needsRedis(block) && !hasRedis) || lacksTypeScript(block))(`${block.file}:${block.line}`, async () => {
      const given = { plugins: pluginsOf(block.file), redisUrl: redis?.url ?? '', ...surroundings[block.file] }
      expect(await runBlock(block, given)).toEqual([])
    })
  }
})

test('exempt are only those that cannot run here; they are compiled', () => {
  const exempt = blocks.filter((block) => block.noRun !== undefined)
  expect(exempt.map(({ file, noRun }) => `${file} ${noRun}`)).toEqual([
    'docs/guides/testing.md the other file is src/app.ts of a project',
    'docs/plugins/cron.md it runs until it is stopped',
    'docs/plugins/graphql.md needs the package dataloader',
    'docs/plugins/tenant.md the server is that of the application',
    'docs/recipes/mongodb.md needs the package mongodb',
    'docs/recipes/prisma.md needs the client that Prisma generates',
    'docs/recipes/tus.md needs the package @tus/server',
  ])
})

test('every page of a plugin has one', () => {
  const shown = new Set(runnable.map((block) => block.file))
  const without = pages.filter(({ file }) => file.startsWith('docs/plugins/') && !shown.has(file))
  expect(without.map(({ file }) => file)).toEqual([])
})

describe('an example with a mistake is reported with its page and line', () => {
  const run = (...lines: string[]) =>
    runBlock({ file: 'a.md', line: 10, code: lines.join('\n') }, { redisUrl: '', plugins: {} })

  test.each([
    ['throws', ["const a = 'b'", 'throw new Error(a)'], /^a\.md:11: Error: b/],
    ['leaves a rejection unhandled', ['', '', "void Promise.reject(new Error('lost'))"], /^a\.md:12: Error: lost/],
    ['throws later', ["queueMicrotask(() => { throw new Error('late') })"], /^a\.md:10: Error: late/],
    ['has a server that does not boot', ['new Server({ plugins: { timeout: { ms: -1 } } })'], /^a\.md:10: OptionError/],
    [
      'has a handler that fails',
      ["router.get('/x/:id?', () => { throw 1 })"],
      /^a\.md:10: GET \/x with no body is 500/,
    ],
    [
      'has a handler that fails for some bodies',
      ["router.post('/x', (req) => (req.body as object).toString())"],
      /^a\.md:10: POST \/x with no body is 500/,
    ],
    [
      'has a test that fails',
      ["import { expect, test } from 'vitest'", "test('a', () => expect(1).toBe(2))"],
      /^a\.md:11: AssertionError/,
    ],
    [
      'does not throw what it says',
      ['', "String('a') // throws RangeError"],
      /^a\.md:11: Error: is said to throw RangeError/,
    ],
    [
      'gives another value',
      ['JSON.parse("{}") // {"a":1}, says the page'],
      /^a\.md:10: Error: is said to give \{"a":1\}/,
    ],
  ])('one that %s', async (_what, lines, message) => {
    const problems = await run(...lines)
    expect(problems[0]).toMatch(message)
  })

  test('one without a mistake is not, and leaves no files', async () => {
    expect(
      await run('const server = new Server({ port: 3000 })', "router.get('/', () => 'a')", 'await server.listen()'),
    ).toEqual([])
    expect(router.routes).toEqual([])
    expect(process.listenerCount('SIGTERM')).toBe(signals)
  })
})
