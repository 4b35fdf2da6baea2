import {
  BaseCron,
  type CronRun,
  CronService,
  cron,
  definePlugin,
  memoryCronLock,
  RouteCollection,
  Server,
} from 'framework'
import { type TestClock, testClock } from 'framework/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { runningServer } from '../../../plugins/shared/values/running-server.ts'
import { memoryLogger } from '../../support/kernel.ts'
import { cronInPairs } from '../../support/pairs.ts'

const minute = 60_000
const close: (() => unknown)[] = []
afterEach(async () => {
  for (const one of close.splice(0).reverse()) await one()
})

let time: TestClock | undefined

function takeClock(): TestClock {
  if (time !== undefined) return time
  const taken = testClock('2026-01-05T10:00:00Z', { patience: 100 })
  time = taken
  close.push(() => {
    taken.restore()
    time = undefined
  })
  return taken
}

function make(options: object = {}) {
  const logger = memoryLogger()
  const server = new Server({
    ...{ port: 0, host: '127.0.0.1', logger, gracefulShutdown: false, router: new RouteCollection(), drainWindow: 0 },
    ...{ plugins: { cron: { crons: [], timezone: 'UTC' } }, ...options },
  })
  close.push(() => server.close().catch(() => {}))
  return { server, log: logger.entries, jobs: () => server.services.get('cron').jobs() }
}

async function listening(options: object = {}) {
  const made = make(options)
  await made.server.listen()
  return made
}

async function script(options: Parameters<typeof CronService.run>[0] = { crons: [] }) {
  const service = await CronService.run({ timezone: 'UTC', logger: memoryLogger(), ...options })
  close.push(() => service.stop({ timeout: 50 }))
  return service
}

const declare = (...args: Parameters<typeof cron>) => {
  const job = cron(...args)
  close.push(() => job.destroy())
  return job
}

const names = (jobs: readonly { readonly name: string }[]) => jobs.map(({ name }) => name)
const counts = (jobs: readonly { readonly name: string; readonly counts: { readonly ok: number } }[]) =>
  Object.fromEntries(jobs.map(({ name, counts }) => [name, counts.ok]))

describe('the same application twice in a process', () => {
  test('each server runs the jobs of handles and classes by itself, with an instance of its own, until it closes', async () => {
    const clock = takeClock()
    const ran: unknown[] = []
    await declare('* * * * *', { name: 'handle' }).start(() => void ran.push(runningServer()))
    let made = 0
    class Reports extends BaseCron {
      readonly number = ++made
      @cron('* * * * *')
      send() {
        ran.push(this.number)
      }
    }
    const crons = { cron: { crons: [Reports], timezone: 'UTC' } }
    const [first, second] = [await listening({ plugins: crons }), await listening({ plugins: crons })]
    await clock.advance(minute)
    expect(ran.filter((one) => typeof one === 'number').sort()).toEqual([1, 2])
    expect(new Set(ran.filter((one) => typeof one === 'object'))).toEqual(new Set([first.server, second.server]))
    for (const { jobs } of [first, second]) expect(counts(jobs())).toEqual({ handle: 1, 'Reports.send': 1 })
    await first.server.close()
    await clock.advance(minute)
    expect(counts(second.jobs())).toEqual({ handle: 2, 'Reports.send': 2 })
    expect(ran).toHaveLength(6)
  })

  test('a handle that is stopped, started again and destroyed is so in both', async () => {
    const clock = takeClock()
    let runs = 0
    const job = declare('* * * * *', { name: 'both' })
    const [first, second] = [await listening(), await listening()]
    await job.start(() => void runs++)
    await clock.advance(minute)
    job.stop()
    await clock.advance(minute)
    expect(runs).toBe(2)
    for (const { jobs } of [first, second]) expect(jobs()).toMatchObject([{ state: 'stopped', counts: { ok: 1 } }])
    await job.start()
    await clock.advance(minute)
    expect(runs).toBe(4)
    job.destroy()
    await clock.advance(minute)
    expect([runs, first.jobs(), second.jobs()]).toEqual([4, [], []])
  })

  test('a run in one server neither makes the other skip its tick, nor keeps it from closing', async () => {
    const clock = takeClock()
    const begun: object[] = []
    let end = () => {}
    const held = new Promise<void>((resolve) => {
      end = resolve
    })
    const [first, second] = [await listening(), await listening()]
    await declare('* * * * *', { name: 'held' }).start(() => {
      begun.push(runningServer()!)
      return begun.length > 2 || runningServer() === second.server ? undefined : held
    })
    await clock.advance(2 * minute)
    expect(begun.filter((one) => one === first.server)).toHaveLength(1)
    expect(begun.filter((one) => one === second.server)).toHaveLength(2)
    expect(first.jobs()).toMatchObject([{ state: 'running', counts: { ok: 0, skipped: 1 } }])
    expect(second.jobs()).toMatchObject([{ state: 'scheduled', counts: { ok: 2, skipped: 0 } }])
    await second.server.close()
    end()
  })

  test('an instance that the application has made is shared; one that a hook has made is that of its server', async () => {
    const clock = takeClock()
    const ran: string[] = []
    class Shared extends BaseCron {
      readonly by: string
      constructor(by = 'the service') {
        super()
        this.by = by
      }
      @cron('* * * * *')
      go() {
        ran.push(this.by)
      }
    }
    const hooked = (by: string) =>
      listening({
        plugins: {
          cron: { crons: [Shared] },
          own: definePlugin({ name: 'own', setup: () => void new Shared(by) })(),
        },
      })
    await hooked('hook 1')
    await hooked('hook 2')
    const without = await listening({ plugins: { cron: { crons: [Shared] } } })
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['hook 1', 'hook 2', 'the service'])
    await without.server.close()
    new Shared('the application')
    await listening({ plugins: { cron: { crons: [Shared] } } })
    await listening({ plugins: { cron: { crons: [Shared] } } })
    await clock.advance(minute)
    expect(ran.sort()).toEqual(['hook 1', 'hook 2', 'the application', 'the application'])
  })

  test('with a lock one of them runs each tick', async () => {
    const clock = takeClock()
    let runs = 0
    await declare('* * * * *', { name: 'once' }).start(() => void runs++)
    const options = { plugins: { cron: { crons: [], lock: memoryCronLock() } } }
    const [first, second] = [await listening(options), await listening(options)]
    await clock.advance(10 * minute)
    expect(runs).toBe(10)
    const all = [first, second].map(({ jobs }) => jobs()[0]!.counts)
    expect(all.map(({ ok, elsewhere }) => ok + elsewhere)).toEqual([10, 10])
  })

  test('two services of one server, in two scopes, are one', async () => {
    const clock = takeClock()
    let runs = 0
    await declare('* * * * *', { name: 'scoped' }).start(() => void runs++)
    const { cron: plugin } = await import('framework/plugins')
    const inner = definePlugin({
      name: 'inner',
      scoped: true,
      setup: (ctx) => void ctx.register(plugin({ crons: [] })),
    })
    await listening({ plugins: { cron: { crons: [] }, inner: inner() } })
    await clock.advance(minute)
    expect(runs).toBe(1)
  })
})

describe('what a hook declares', () => {
  /** A plugin whose hook declares a job. */
  const declaring = (job: () => unknown) => definePlugin({ name: 'declaring', setup: async () => void (await job()) })
  const withPlugin = (job: () => unknown) => ({ plugins: { cron: { crons: [] }, own: declaring(job)() } })

  test('belongs to the server of the hook alone, and ends with it', async () => {
    const clock = takeClock()
    const ran: string[] = []
    const app = (name: string) =>
      withPlugin(() => cron('* * * * *', { name: 'of a hook' }).start(() => void ran.push(name)))
    const [first, second] = [await listening(app('first')), await listening(app('second'))]
    const other = await listening()
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['first', 'second'])
    expect(other.jobs()).toEqual([])
    await first.server.close()
    await clock.advance(minute)
    expect(ran).toEqual(['second'])
    await second.server.close()
    const script = await CronService.run({ crons: [] })
    expect(script.jobs()).toEqual([])
    await script.stop()
  })

  test('a handle of a module may be started by the hooks of each server, and again by those of the next', async () => {
    const clock = takeClock()
    const ran: string[] = []
    const job = declare('* * * * *', { name: 'of a module' })
    const app = (name: string) => withPlugin(() => job.start(() => void ran.push(name)))
    const [first] = [await listening(app('first')), await listening(app('second'))]
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['first', 'second'])
    await expect(job.start(() => {})).rejects.toThrow('Cron job "of a module" is already started')
    await first.server.close()
    await listening(app('third'))
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['second', 'third'])
    job.stop()
    await clock.advance(minute)
    expect(ran).toEqual([])
  })

  test('a handle that was stopped continues where it ran, wherever it is started again', async () => {
    const clock = takeClock()
    const ran: string[] = []
    const [module, hooks] = [declare('* * * * *', { name: 'module' }), declare('* * * * *', { name: 'hooks' })]
    const app = (name: string) => withPlugin(() => hooks.start(() => void ran.push(`hook ${name}`)))
    const [first, second] = [make(app('first')), make(app('second'))]
    first.server.get('/again', async () => {
      await Promise.all([module.start(), hooks.start()])
      return 'started'
    })
    for (const { server } of [first, second]) await server.listen()
    await module.start(() => void ran.push('module'))
    module.stop()
    hooks.stop()
    await clock.advance(minute)
    expect(ran).toEqual([])
    // In a request of the first: what was stopped in all servers continues in all, and of what hooks have started only that of the first.
    ;(await first.server.inject.get('/again')).assertStatus(200)
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['hook first', 'module', 'module'])
    await hooks.start().catch(() => {})
    hooks.stop()
    await hooks.start()
    await clock.advance(minute)
    expect(ran.sort()).toEqual(['hook first', 'hook second', 'module', 'module'])
  })

  test('jobs without a name have the same names in each server', async () => {
    const app = withPlugin(async () => {
      await cron('3 3 * * *').start(() => {})
      await cron('3 3 * * *').start(() => {})
    })
    const servers = [await listening(app), await listening(app)]
    await declare('3 3 * * *').start(() => {})
    for (const { jobs } of servers) expect(names(jobs())).toEqual(['3 3 * * *', '3 3 * * * #2', '3 3 * * * #3'])
  })

  test('is reported when its server has no plugin cron, although another one has', async () => {
    await listening()
    const app = declaring(() => declare('* * * * *', { name: 'unserved' }).start(() => {}))
    const { server, log } = make({ plugins: { own: app() } })
    await server.ready()
    expect(log.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^the cron job "unserved" \(.*\) was started, .* register the plugin "cron" \(\S+ \{ crons: \[…\] \}\)$/,
      ),
    ])
  })

  test('what a module declares is reported again when the boot of the server with the plugin has failed', async () => {
    await declare('* * * * *', { name: 'failed' }).start(() => {})
    const failing = definePlugin({
      name: 'failing',
      setup: () => {
        throw new Error('no database')
      },
    })
    const { server } = make({ plugins: { cron: true, own: failing() } })
    await expect(server.ready()).rejects.toThrow('no database')
    await server.close()
    const next = make({ plugins: {} })
    await next.server.ready()
    expect(next.log.map(({ message }) => message)).toEqual([expect.stringContaining('the cron job "failed"')])
  })

  test('what a module declares is not reported while a server has the plugin, and is when it has closed', async () => {
    await declare('* * * * *', { name: 'served' }).start(() => {})
    const { server } = await listening()
    const [before, after] = [make({ plugins: {} }), make({ plugins: {} })]
    await before.server.ready()
    await server.close()
    await after.server.ready()
    expect([before.log.length, after.log.length]).toEqual([0, 1])
  })
})

describe('jobs as objects', () => {
  test('run like any other, in the server that has the option', async () => {
    const clock = takeClock()
    const ran: string[] = []
    const failures: unknown[] = []
    const options = (name: string) => ({
      plugins: {
        cron: {
          timezone: 'UTC',
          crons: [
            { schedule: '*/1 * * * *', handler: ({ name: job }: CronRun) => void ran.push(`${name} ${job}`) },
            { schedule: '*/1 * * * *', handler() {} },
            {
              schedule: '@hourly',
              handler: () => Promise.reject(new Error('broken')),
              options: { name: 'hourly', onFailed: (error: unknown) => void failures.push(error) },
            },
          ],
        },
      },
    })
    const [first, second] = [await listening(options('a')), await listening(options('b'))]
    const other = await listening()
    await clock.advance(minute)
    expect(ran.sort()).toEqual(['a */1 * * * *', 'b */1 * * * *'])
    for (const { jobs } of [first, second])
      expect(counts(jobs())).toEqual({ '*/1 * * * *': 1, '*/1 * * * * #2': 1, hourly: 0 })
    expect(other.jobs()).toEqual([])
    expect(await first.server.services.get('cron').trigger('hourly')).toBe(true)
    await first.server.services.get('cron').idle()
    expect(failures).toEqual([new Error('broken')])
    expect(second.jobs().find(({ name }) => name === 'hourly')?.counts.failed).toBe(0)
  })

  test('in background.crons, where a wrong one is named with its place', async () => {
    const job = { schedule: '* * * * *', handler() {}, options: { name: 'listed' } }
    const { jobs } = await listening({ plugins: {}, background: { crons: [job] } })
    expect(names(jobs())).toEqual(['listed'])
    expect(() => make({ plugins: {}, background: { crons: [job, job, { ...job, schedule: '* *' }] } })).toThrow(
      /^the option "background\.crons\[2\]\.schedule": the cron pattern "\* \*" has 2 fields/,
    )
  })

  test('need a name with a lock, and not that of another job', async () => {
    const lock = memoryCronLock()
    const nameless = make({ plugins: { cron: { lock, crons: [{ schedule: '* * * * *', handler() {} }] } } })
    await expect(nameless.server.listen()).rejects.toMatchObject({ cause: { code: 'CronNameError' } })
    const one = { schedule: '* * * * *', handler() {}, options: { name: 'same' } }
    const twice = make({ plugins: { cron: { crons: [one, one] } } })
    await expect(twice.server.listen()).rejects.toMatchObject({ cause: { code: 'CronNameError' } })
  })

  test('a script has them as well, also after another start', async () => {
    const clock = takeClock()
    let runs = 0
    const service = await script({ crons: [{ schedule: '0-59 * * * *', handler: () => void runs++ }] })
    await clock.advance(minute)
    await service.stop()
    await clock.advance(minute)
    await service.start()
    await clock.advance(minute)
    expect([runs, names(service.jobs())]).toEqual([2, ['0-59 * * * *']])
  })
})

describe('a script beside servers', () => {
  test('leaves its jobs to a server that has them too, keeps the others, and has all of them again when it closes', async () => {
    const clock = takeClock()
    const ran: string[] = []
    class Jobs extends BaseCron {
      @cron('* * * * *', { name: 'of a class' })
      go() {
        ran.push('class')
      }
    }
    await declare('* * * * *', { name: 'handle' }).start(() => void ran.push('handle'))
    const own = { schedule: '* * * * *', handler: () => void ran.push('own'), options: { name: 'own' } }
    const service = await script({ crons: [Jobs, own] })
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['class', 'handle', 'own'])
    const { server, jobs } = await listening({ plugins: { cron: { crons: [Jobs] } } })
    expect([names(service.jobs()), names(jobs())]).toEqual([['own'], ['handle', 'of a class']])
    await clock.advance(minute)
    expect(ran.splice(0).sort()).toEqual(['class', 'handle', 'own'])
    await server.close()
    await clock.advance(minute)
    expect(ran.sort()).toEqual(['class', 'handle', 'own'])
    expect(counts(service.jobs())).toEqual({ handle: 2, 'of a class': 2, own: 3 })
    await expect(service.trigger('handle')).resolves.toBe(true)
  })

  test('does not run a job twice that one of both is still running', async () => {
    const clock = takeClock()
    const ends: (() => void)[] = []
    await declare('* * * * *', { name: 'long' }).start(() => new Promise<void>((resolve) => ends.push(resolve)))
    const service = await script()
    await clock.advance(minute)
    const { server, jobs } = await listening()
    await clock.advance(minute)
    expect([ends.length, jobs()[0]?.counts.skipped]).toEqual([1, 1])
    expect(service.jobs()).toMatchObject([{ name: 'long', state: 'running' }])
    expect(await server.services.get('cron').trigger('long')).toBe(false)
    ends[0]!()
    await clock.advance(minute)
    expect([ends.length, service.jobs()]).toEqual([2, []])
    const closing = server.close()
    await clock.advance(minute)
    expect(ends).toHaveLength(2)
    ends[1]!()
    await closing
    await clock.advance(minute)
    expect(ends).toHaveLength(3)
    ends[2]!()
  })

  test('that starts later leaves them to the server from the beginning, but not under inject', async () => {
    const clock = takeClock()
    let runs = 0
    await declare('* * * * *', { name: 'handle' }).start(() => void runs++)
    const { server } = make()
    await server.ready()
    const service = await script()
    await clock.advance(minute)
    expect([runs, names(service.jobs())]).toEqual([1, ['handle']])
    await server.listen()
    await clock.advance(minute)
    expect([runs, service.jobs()]).toEqual([2, []])
    const later = await script()
    await clock.advance(minute)
    expect([runs, later.jobs()]).toEqual([3, []])
  })
})

test('100 pairs of servers: no job crosses', () => cronInPairs(100))
