import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'

interface Instance {
  readonly child: ChildProcess
  readonly lines: string[]
  stop(signal?: NodeJS.Signals): Promise<void>
}

const script = join(import.meta.dirname, 'fixtures/cron-instance.ts')
const instances: Instance[] = []

async function start(lock: object, jobs: number, ms: number): Promise<Instance> {
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(lock), String(jobs), String(ms)], {
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
  const instance: Instance = {
    child,
    lines,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
  instances.push(instance)
  await vi.waitUntil(() => lines.includes('ready') || child.exitCode !== null, { timeout: 30_000 })
  expect(lines).toContain('ready')
  return instance
}

afterEach(async () => {
  for (const one of instances.splice(0)) await one.stop('SIGKILL')
})

/** The runs of all instances that have begun, as `name tick`. */
const runs = () => instances.flatMap(({ lines }) => lines.filter((line) => line.startsWith('job-')))
const distinct = () => new Set(runs()).size

interface Store {
  readonly lock: { ttl: number }
  restart(): Promise<void>
}

function promises(store: () => Store) {
  test('five instances serve 200 ticks, each exactly once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => start(store().lock, 25, 0)))
    const before = distinct()
    await vi.waitUntil(() => distinct() >= before + 200, { timeout: 60_000, interval: 50 })
    await Promise.all(instances.map((one) => one.stop()))
    const all = runs()
    expect(all.length - new Set(all).size).toBe(0)
    // None is missing between the first second that all have seen and the last.
    const ticks = [...new Set(all.map((run) => Number(run.split(' ')[1])))].sort((a, b) => a - b)
    for (let tick = ticks[1]!; tick < ticks.at(-1)!; tick += 1000) {
      expect(all.filter((run) => run.endsWith(` ${tick}`))).toHaveLength(25)
    }
    expect(instances.filter(({ lines }) => lines.some((line) => line.startsWith('job-'))).length).toBeGreaterThan(1)
  }, 120_000)

  test('an instance that is killed while it runs a job keeps the others from it only for a while', async () => {
    await start(store().lock, 1, 3_600_000)
    await vi.waitUntil(() => distinct() === 1, { timeout: 30_000 })
    await start(store().lock, 1, 0)
    const other = instances[1]!
    const begun = () => other.lines.filter((line) => line.startsWith('job-')).length
    // It renews: longer than the lock lasts nobody else gets the job.
    await new Promise((resolve) => setTimeout(resolve, 3 * store().lock.ttl))
    expect(begun()).toBe(0)
    await instances[0]!.stop('SIGKILL')
    await vi.waitUntil(() => begun() >= 2, { timeout: 30_000 })
    expect(distinct()).toBe(runs().length)
  }, 120_000)

  test('a store that dies and comes back: no tick twice, and they go on', async () => {
    await Promise.all([start(store().lock, 3, 0), start(store().lock, 3, 0)])
    await vi.waitUntil(() => distinct() >= 6, { timeout: 30_000 })
    await store().restart()
    const before = distinct()
    await vi.waitUntil(() => distinct() >= before + 6, { timeout: 60_000 })
    await Promise.all(instances.map((one) => one.stop()))
    expect(distinct()).toBe(runs().length)
    expect(instances.map(({ child }) => child.exitCode)).toEqual([0, 0])
  }, 120_000)
}

describe.skipIf(!hasRedis)('instances that agree in Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  promises(() => ({
    lock: { redis: redis.url, ttl: 1000 } as { ttl: number },
    async restart() {
      await redis.kill()
      await new Promise((resolve) => setTimeout(resolve, 1500))
      await redis.restart()
    },
  }))
})

describe.skipIf(!hasPostgres)('instances that agree in Postgres', () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())
  promises(() => ({
    lock: { postgres: postgres.url, ttl: 1000 } as { ttl: number },
    async restart() {
      await postgres.kill()
      await new Promise((resolve) => setTimeout(resolve, 1500))
      await postgres.restart()
    },
  }))
})
