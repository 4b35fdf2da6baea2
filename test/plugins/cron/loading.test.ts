import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BaseCron, CronService, cron, RouteCollection, Server } from 'framework'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const minute = 60_000
const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
})

function takeClock() {
  const clock = testClock('2026-01-05T10:00:00Z')
  stop.push(() => clock.restore())
  return clock
}

describe('job files', () => {
  /** A working directory with files. */
  function folderWith(files: Record<string, string>): string {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'framework-crons-')))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const before = process.cwd()
    process.chdir(folder)
    stop.push(() => {
      process.chdir(before)
      rmSync(folder, { recursive: true, force: true })
    })
    return folder
  }
  const jobs = globalThis as { testCron?: unknown } // The files are outside of the project and find what they need here.
  const run = async (options: object = {}) => {
    const logger = memoryLogger()
    jobs.testCron = { cron, stop }
    const service = await CronService.run({ logger, ...options })
    stop.push(() => service.stop())
    return { names: service.jobs().map(({ name }) => name), log: logger.entries }
  }
  const started = (name: string) =>
    `const { cron, stop } = globalThis.testCron; export const job = cron('* * * * *', { name: '${name}' }); await job.start(() => {}); stop.push(() => job.destroy())`

  test('those of src/crons are loaded where no others are named, and none need to be there', async () => {
    folderWith({
      'src/crons/a.js': started('a'),
      'src/crons/deep/b.js': started('b'),
      'src/crons/c.d.ts': 'nonsense',
      'src/other.js': started('other'),
    })
    expect(await run()).toEqual({ names: ['a', 'b'], log: [] })
    folderWith({})
    expect((await run()).log).toEqual([])
  })

  test('globs that match nothing are a warning, a handle without handler too', async () => {
    folderWith({ 'jobs/x.js': `export const x = globalThis.testCron.cron('* * * * *', { name: 'x' })` })
    const { names, log } = await run({ crons: ['jobs/*.js', 'nowhere/*.js'] })
    expect(names).toEqual([])
    expect(log.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^crons: "nowhere\/\*\.js" matches no file in /),
      'the cron job "x" has no handler. Call start(handler) on it',
    ])
  })

  test.each([
    ['throws', `throw new Error('no database at import')`, 'no database at import'],
    ['is not JavaScript', 'export const = 5', ''],
    ['has a wrong pattern', `globalThis.testCron.cron('61 * * * *')`, 'the cron pattern'],
  ])('a file that %s fails the start and is named', async (_what, text, why) => {
    const folder = folderWith({ 'jobs/broken.js': text })
    await expect(run({ crons: ['jobs/*.js'] })).rejects.toMatchObject({
      code: 'CronFileError',
      message: expect.stringContaining(`the job file ${join(folder, 'jobs/broken.js')} cannot be loaded: ${why}`),
    })
  })
})

describe('classes that were imported', () => {
  async function listening(crons: true | { crons: (new () => BaseCron)[] }) {
    const settings = { port: 0, host: '127.0.0.1', gracefulShutdown: false, drainWindow: 0, logger: memoryLogger() }
    const server = new Server({ ...settings, router: new RouteCollection(), plugins: { cron: crons } })
    stop.push(() => server.close())
    await server.listen()
    return server.services.get('cron')
  }
  const names = (service: CronService) => service.jobs().map(({ name }) => name)

  test('run in each of two servers without a list', async () => {
    const clock = takeClock()
    let runs = 0
    class Imported extends BaseCron {
      @cron('* * * * *', { name: 'imported in both' })
      go() {
        runs++
      }
    }
    const [first, second] = [await listening(true), await listening(true)]
    await clock.advance(minute)
    expect([runs, Imported.name]).toEqual([2, 'Imported'])
    for (const service of [first, second]) expect(names(service)).toContain('imported in both')
  })

  test('a script that does not know the class of a method leaves it to a server that lists the class', async () => {
    const clock = takeClock()
    let runs = 0
    class Unknown extends BaseCron {
      @cron('* * * * *', { name: 'of an unknown class' })
      go() {
        runs++
      }
    }
    const service = await CronService.run({ logger: memoryLogger() })
    stop.push(() => service.stop())
    await clock.advance(minute)
    expect(names(service)).toContain('of an unknown class')
    await listening({ crons: [Unknown] })
    await clock.advance(minute)
    expect(runs).toBe(2)
    expect(names(service)).not.toContain('of an unknown class')
  })
})
