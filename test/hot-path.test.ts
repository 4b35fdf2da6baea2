import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { serverSuites } from '../benchmarks/load/suites.ts'
import { runtimeBinary } from './runtimes/run.mjs'
import { isLong } from './support/long.ts'

// What a request costs, by counting: unlike a time it is the same on a busy machine. So a change that makes requests a little
// heavier fails here, and need not be noticed in a benchmark.

/** What one request takes: bytes of the heap, promises, ticks. */
type Cost = readonly [bytes: number, promises: number, ticks: number]
type Way = 'inject' | 'socket'
type Scenario = 'hello' | 'later' | 'get' | 'post' | 'chain'
type Costs = Record<Scenario, Record<Way, Cost>>

/**
 * Today's costs, by version of Node.js. `inject` has a promise of its own, and one for its caller; most of what a socket adds is
 * taken by `node:http` itself.
 *
 * The failing test prints the new lines. A change that makes a request cheaper, or dearer for a good reason, puts them here.
 */
const today: Readonly<Record<string, Costs>> = {
  20: {
    hello: { inject: [2748, 2, 0], socket: [12023, 0, 10] },
    later: { inject: [3885, 7, 0], socket: [12545, 5, 9] },
    get: { inject: [7451, 2, 0], socket: [17129, 0, 10] },
    post: { inject: [7852, 6, 0], socket: [13645, 4, 2] },
    chain: { inject: [3357, 2, 0], socket: [12664, 0, 10] },
  },
  24: {
    hello: { inject: [2604, 2, 0], socket: [5996, 0, 2] },
    later: { inject: [3701, 7, 0], socket: [7110, 5, 2] },
    get: { inject: [4893, 2, 0], socket: [8688, 0, 2] },
    post: { inject: [7532, 6, 0], socket: [13164, 4, 2] },
    chain: { inject: [3213, 2, 0], socket: [6634, 0, 2] },
  },
  26: {
    hello: { inject: [2445, 2, 0], socket: [5825, 0, 2] },
    later: { inject: [3510, 7, 0], socket: [6907, 5, 2] },
    get: { inject: [4734, 2, 0], socket: [8522, 0, 2] },
    post: { inject: [7371, 6, 0], socket: [12994, 4, 2] },
    chain: { inject: [3054, 2, 0], socket: [6459, 0, 2] },
  },
}

/** How much more than today fails. So does 2.5 times as much less: with the old figure the next change could take it all back. */
const tolerance: Readonly<Record<Way, number>> = { inject: 0.1, socket: 0.05 }

/** The bytes of a request that may become old. What V8 learns meanwhile takes up to 170; a request that is kept, over 1000. */
const mostSurviving = 400

function asked(suite: keyof typeof serverSuites) {
  const { method, targets, headers, body } = serverSuites[suite].exchange
  return { method, url: targets[0].path, headers, ...(body !== '' && { body }) }
}

const scenarios: Readonly<Record<Scenario, ReturnType<typeof asked>>> = {
  hello: asked('hello'),
  // An asynchronous handler.
  later: { ...asked('hello'), url: '/later' },
  // Parameters and query validated, the response by a schema.
  get: asked('serialised-get'),
  // 1 KB of JSON validated, the response by a schema.
  post: asked('validated-post'),
  // After four synchronous middlewares.
  chain: { ...asked('hello'), url: '/after-four' },
}

const flags = {
  count:
    '--allow-natives-syntax --no-opt --no-maglev --no-sparkplug --no-flush-bytecode --min-semi-space-size=64 --max-semi-space-size=64',
  // Many collections of young objects, and no full one.
  survival: '--max-semi-space-size=1 --no-incremental-marking',
}

/** The output of one of the programs in `support/hot-path` about the built framework. */
async function run<Result>(node: string, program: keyof typeof flags, of: Partial<typeof scenarios>): Promise<Result> {
  const file = fileURLToPath(new URL(`support/hot-path/${program}.mjs`, import.meta.url))
  const args = ['--expose-gc', ...flags[program].split(' '), file, JSON.stringify(of)]
  const env = { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' }
  const { stdout } = await promisify(execFile)(node, args, { env, timeout: 280_000 })
  return JSON.parse(stdout) as Result
}

interface CountedCost {
  readonly bytes: number
  readonly promises: number
  readonly ticks: number
  readonly others: readonly (readonly [type: string, count: number])[]
}

interface Counted {
  readonly costs: Record<Scenario, Record<Way, CountedCost>>
  readonly shapes: Record<Way, { requests: number; responses: number; raw: number }>
}

/** What is not as the table has it, one line each. */
function differences(costs: Counted['costs'], expected: Costs): string[] {
  const found: string[] = []
  for (const [name, ways] of Object.entries(expected) as [Scenario, Costs[Scenario]][]) {
    for (const [way, [bytes, promises, ticks]] of Object.entries(ways) as [Way, Cost][]) {
      const cost = costs[name][way]
      const more = cost.bytes / bytes - 1
      const say = (what: string) => found.push(`${name}, ${way}: ${what}`)
      if (more > tolerance[way]) say(`${cost.bytes} bytes, ${(more * 100).toFixed()} % more than today`)
      else if (more < -2.5 * tolerance[way]) say(`only ${cost.bytes} bytes, not ${bytes}`)
      if (cost.promises !== promises) say(`${cost.promises} promises, not ${promises}`)
      if (cost.ticks !== ticks) say(`${cost.ticks} ticks, not ${ticks}`)
      for (const [type, count] of cost.others) say(`${count} of the type ${type}, and none today`)
    }
  }
  return found
}

/** The costs as lines of the table. */
function asLines(costs: Counted['costs']): string {
  const list = ({ bytes, promises, ticks }: CountedCost) => `[${bytes}, ${promises}, ${ticks}]`
  return Object.entries(costs)
    .map(([name, { inject, socket }]) => `    ${name}: { inject: ${list(inject)}, socket: ${list(socket)} },`)
    .join('\n')
}

/** That which has started the tests, the oldest one here. */
const oldest = process.env.FRAMEWORK_OLDEST_NODE ?? process.execPath
const [own = ''] = execFileSync(oldest, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')

const newest = '26'

// hot-path.long.test.ts has the version between them, too.
describe.concurrent.each([...new Set([own, ...(isLong ? ['24'] : []), newest])])('on Node.js %s', (version) => {
  const node = version === own ? oldest : runtimeBinary(`node${version}`)
  let counting: Promise<Counted> | undefined
  const counted = () => {
    counting ??= run<Counted>(node!, 'count', scenarios)
    return counting
  }
  const expected = today[version]

  test.skipIf(node === undefined || expected === undefined)(
    'a request takes as many bytes, promises and ticks as the table says, and no timer',
    async () => {
      const { costs } = await counted()
      expect(differences(costs, expected!), `on Node.js ${version} it is now:\n${asLines(costs)}`).toEqual([])
    },
  )

  test.skipIf(node === undefined)(
    'the requests of all routes have one hidden class, and so have their responses',
    async () => {
      const one = { requests: 1, responses: 1, raw: 1 }
      expect((await counted()).shapes).toEqual({ inject: one, socket: one })
    },
  )

  // What keeps a request is the framework's code, the same on each version.
  if (isLong || version === newest)
    test.skipIf(node === undefined)('requests that have had their response do not become old objects', async () => {
      const { hello, later, post } = scenarios
      const survivals = await run<Record<string, Record<Way, number>>>(node!, 'survival', { hello, later, post })
      const most = Math.max(...Object.values(survivals).flatMap((ways) => Object.values(ways)))
      expect(most, `bytes of each request: ${JSON.stringify(survivals)}`).toBeLessThan(mostSurviving)
    })
})

/** Each file is a place that someone who follows a request has to open. */
const maxCrossed = 25

test(`a request crosses at most ${maxCrossed} files`, async () => {
  const script = fileURLToPath(new URL('support/hot-path/crossed.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script])
  const crossed = JSON.parse(stdout) as string[]
  expect(crossed.length, crossed.join('\n')).toBeLessThanOrEqual(maxCrossed)
  expect(crossed).toContain('kernel/pipeline/dispatch.ts')
})
