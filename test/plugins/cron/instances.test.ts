import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, type ExpectStatic, test, vi } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'

const root = join(import.meta.dirname, '../../..')
const script = join(import.meta.dirname, '../fixtures/cron-instance.mjs')

interface Instance {
  readonly child: ChildProcess
  readonly lines: string[]
  stop(signal?: NodeJS.Signals): Promise<void>
}

function start(lock: object, jobs: number, ms: number): Instance {
  const child = spawn(process.execPath, [script, JSON.stringify(lock), String(jobs), String(ms)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const lines: string[] = []
  let rest = ''
  child.stdout!.on('data', (data) => {
    const all = (rest + String(data)).split('\n')
    rest = all.pop()!
    lines.push(...all)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    child,
    lines,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

/** The instances of one test, which are removed after it. */
async function together(use: (instances: Instance[], begin: typeof start) => Promise<void>): Promise<void> {
  const instances: Instance[] = []
  const begin: typeof start = (...given) => {
    const one = start(...given)
    instances.push(one)
    return one
  }
  try {
    await use(instances, begin)
  } finally {
    await Promise.all(instances.map((one) => one.stop('SIGKILL')))
  }
}

async function ready(instances: readonly Instance[], expect: ExpectStatic): Promise<void> {
  const isSettled = ({ lines, child }: Instance) => lines.includes('ready') || child.exitCode !== null
  await vi.waitUntil(() => instances.every(isSettled), 60_000)
  for (const { lines } of instances) expect(lines).toContain('ready')
}

/** The runs that have begun, as `name tick`. */
const runsOf = (instances: readonly Instance[]) =>
  instances.flatMap(({ lines }) => lines.filter((line) => line.startsWith('job-')))
const distinct = (instances: readonly Instance[]) => new Set(runsOf(instances)).size

const ttl = 2000

/** `isFirst`: the test with the most processes begins; not for both stores, or they would take the machine from each other. */
function promises(startServer: () => Promise<OwnServer>, lockAt: (url: string) => object, isFirst: boolean) {
  let server: OwnServer
  let lock: object
  beforeAll(async () => {
    if (!existsSync(join(root, 'dist/index.js'))) throw new Error('dist/ is missing: run `npm run build` first')
    server = await startServer()
    lock = { ...lockAt(server.url), ttl }
  })
  afterAll(() => server.stop())

  const many = () =>
    test.sequential('three instances serve 200 ticks, each exactly once', ({ expect }) =>
      together(async (instances, begin) => {
        for (let i = 0; i < 3; i++) begin(lock, 70, 0)
        await ready(instances, expect)
        const readyAt = Date.now()
        const before = distinct(instances)
        await vi.waitUntil(() => distinct(instances) >= before + 200, { timeout: 60_000, interval: 50 })
        await Promise.all(instances.map((one) => one.stop()))
        const all = runsOf(instances)
        expect(all.length - new Set(all).size).toBe(0)
        // None is missing between the first second that all have seen and the last, unless an instance says that it was
        // blocked for a second: on a machine with too much to do.
        const wasBlocked = !instances.every(({ lines }) => lines.includes('lost 0'))
        const ticks = [...new Set(all.map((run) => Number(run.split(' ')[1])))].sort((a, b) => a - b)
        const whole = ticks.filter((tick) => tick > readyAt && tick < ticks.at(-1)!)
        expect(whole.length).toBeGreaterThan(0)
        for (const tick of wasBlocked ? [] : whole) {
          expect(all.filter((run) => run.endsWith(` ${tick}`))).toHaveLength(70)
        }
        expect(instances.filter((one) => distinct([one]) > 0).length).toBeGreaterThan(1)
      }))

  if (isFirst) many()
  test.sequential('an instance that is killed while it runs its jobs keeps the others from them only for a while, and a store that dies and comes back has no tick run twice', ({
    expect,
  }) =>
    together(async (instances, begin) => {
      const first = begin(lock, 3, 3_600_000)
      await vi.waitUntil(() => distinct(instances) === 3, 60_000)
      const other = begin(lock, 3, 0)
      await ready(instances, expect)
      // It renews: for longer than the lock lasts no other instance receives the jobs.
      await new Promise((resolve) => setTimeout(resolve, 1.5 * ttl))
      expect(distinct([other])).toBe(0)
      await first.stop('SIGKILL')
      await vi.waitUntil(() => distinct([other]) >= 6, 60_000)
      expect(distinct(instances)).toBe(runsOf(instances).length)

      const left = [other, begin(lock, 3, 0)]
      await ready(left, expect)
      await server.kill()
      const down = distinct(left)
      // A tick passes without it.
      await new Promise((resolve) => setTimeout(resolve, 1100))
      await server.restart()
      await vi.waitUntil(() => distinct(left) >= down + 6, 60_000)
      await Promise.all(left.map((one) => one.stop()))
      expect(distinct(instances)).toBe(runsOf(instances).length)
      expect(left.map(({ child }) => child.exitCode)).toEqual([0, 0])
    }))
  if (!isFirst) many()
}

// The two stores side by side: most of the time both wait for a second to pass.
describe.concurrent('instances that agree', () => {
  describe.skipIf(!hasRedis)('in Redis', () =>
    promises(
      () => startRedis(),
      (redis) => ({ redis }),
      true,
    ),
  )
  describe.skipIf(!hasPostgres)('in Postgres', () =>
    promises(
      () => startPostgres(),
      (postgres) => ({ postgres }),
      false,
    ),
  )
})
