import { CronService, cron, cronUi, RouteCollection, Server } from 'framework'
import { cron as cronPlugin } from 'framework/plugins'
import { testClock } from 'framework/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const stop: (() => unknown)[] = []
afterEach(async () => {
  for (const one of stop.splice(0).reverse()) await one()
})

function make(options: object) {
  const logger = memoryLogger()
  const settings = { port: 0, host: '127.0.0.1', logger, gracefulShutdown: false, router: new RouteCollection() }
  const server = new Server({ ...settings, drainWindow: 0, ...options })
  stop.push(() => server.close().catch(() => {}))
  return { server, log: logger.entries }
}

function takeClock() {
  const clock = testClock('2026-01-05T10:00:00Z')
  stop.push(() => clock.restore())
  return clock
}

const declare = (...args: Parameters<typeof cron>) => {
  const job = cron(...args)
  stop.push(() => job.destroy())
  return job
}

describe('jobs run while the server listens', () => {
  test('never under inject, from listen on, and not after close', async () => {
    const clock = takeClock()
    let runs = 0
    await declare('* * * * *', { name: 'j' }).start(() => void runs++)
    const { server } = make({ plugins: { cron: { crons: [] } } })
    await server.inject.get('/')
    await clock.advance(120_000)
    expect([runs, server.services.get('cron').jobs()]).toEqual([0, []])
    await server.listen()
    await clock.advance(120_000)
    expect(runs).toBe(2)
    await server.close()
    await clock.advance(120_000)
    expect(runs).toBe(2)
  })

  test('a server without the plugin runs none', async () => {
    await declare('* * * * *', { name: 'j' }).start(() => {})
    const { server } = make({})
    await server.listen()
    expect(server.services.find('cron')).toBeUndefined()
  })

  test('background.crons is short for the plugin; both are one too many', async () => {
    const job = declare('* * * * *', { name: 'j' })
    await job.start(() => {})
    const { server } = make({ background: { crons: [job] } })
    await server.listen()
    expect(server.services.get('cron').jobs()).toMatchObject([{ name: 'j', state: 'scheduled' }])
    expect(() => make({ background: { crons: [] }, plugins: { cron: true } })).toThrow('background.crons')
    expect(() => make({ background: { cron: [] } })).toThrow('Did you mean "crons"?')
  })

  test('close waits for running jobs, and its signal aborts at once', async () => {
    const clock = takeClock()
    let isEnded = false
    await declare('* * * * *', { name: 'long' }).start(async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await new Promise((resolve) => setTimeout(resolve, 100))
      isEnded = true
    })
    const { server, log } = make({ plugins: { cron: { crons: [] } } })
    await server.listen()
    await clock.advance(60_000)
    await server.close()
    expect([isEnded, log]).toEqual([true, []])
  })

  test('close does not wait for ever: a warning names the running jobs', async () => {
    const clock = takeClock()
    await declare('* * * * *', { name: 'endless' }).start(() => new Promise(() => {}))
    const { server, log } = make({ closeTimeout: 600, plugins: { cron: { crons: [] } } })
    await server.listen()
    await clock.advance(60_000)
    await server.close()
    expect(log).toMatchObject([
      { level: 'warn', message: expect.stringContaining('"cron" was still working') },
      { level: 'warn', fields: { plugin: 'cron', jobs: ['endless'] } },
    ])
  })

  test('a class among several that has no jobs is named with its place in the list', async () => {
    const { server } = make({ background: { crons: ['none/*.js', class Empty {}] } })
    await expect(server.listen()).rejects.toMatchObject({
      cause: { message: expect.stringContaining('crons[1] (Empty): it takes classes that extend BaseCron') },
    })
  })

  test('a start that fails fails listen, with its cause', async () => {
    const { server } = make({ plugins: { cron: { crons: [class {}] } } })
    await expect(server.listen()).rejects.toMatchObject({ code: 'PluginSetupError', cause: { code: 'CronClassError' } })
    await expect(server.inject.get('/')).rejects.toMatchObject({ code: 'ServerClosedError' })
  })

  test('the array form, a service typed by inference', async () => {
    const server = new Server([cronPlugin({ crons: [] })])
    expect(server.services.cron).toBeInstanceOf(CronService)
    await server.close()
  })

  test.each([
    [{ crons: 'src' }, 'cron.crons'],
    [{ crons: [''] }, 'cron.crons'],
    [
      { crons: ['src/*.js', 5] },
      `"plugins.cron.crons[1]" is 5; it takes a glob such as 'src/crons/**/*.js', a class that extends BaseCron, a handle, or { schedule, handler, options }`,
    ],
    [{ crons: ['src/*.js', { schedule: '* * * * *' }] }, '"plugins.cron.crons[1].handler" is missing'],
    [{ crons: [{ handler() {} }] }, '"plugins.cron.crons[0].schedule" is missing; it takes a pattern such as'],
    [{ crons: [{ schedule: 5, handler() {} }] }, '"plugins.cron.crons[0].schedule" is 5; it takes a pattern such as'],
    [
      { crons: ['a', 'b', { schedule: '61 * * * *', handler() {} }] },
      'option "plugins.cron.crons[2].schedule": the cron pattern "61 * * * *" has "61" as minute',
    ],
    [{ crons: [{ schedule: '* * * * *', handler: 'go' }] }, '"plugins.cron.crons[0].handler" is a string'],
    [
      { crons: [{ schedule: '* * * * *', handler() {}, options: { overlap: 'drop' } }] },
      '"plugins.cron.crons[0].options.overlap" is "drop"',
    ],
    [{ crons: [{ shedule: '* * * * *', handler() {} }] }, '"plugins.cron.crons[0].shedule". Did you mean "schedule"?'],
    [{ timezone: 'Mars/Olympus' }, 'plugins.cron.timezone" is "Mars/Olympus"; it takes a time zone such as'],
    [{ history: -1 }, 'plugins.cron.history" is -1'],
    [{ ui: { path: 'crons' } }, 'plugins.cron.ui.path" is "crons"'],
    [{ ui: { pth: '/crons' } }, 'plugins.cron.ui.pth". Did you mean "path"?'],
    [{ ui: { middlewares: [1] } }, 'plugins.cron.ui.middlewares[0]'],
    [{ ui: { middlewares: undefined } }, 'plugins.cron.ui.middlewares" is undefined; it takes a list of middlewares'],
    [{ ui: 'yes' }, 'plugins.cron.ui'],
    [{ zone: 'UTC' }, 'plugins.cron.zone'],
    [[], '"plugins.cron" is an empty array'],
  ])('the options %j are reported when the plugin is registered', (options, message) => {
    const thrown = expect.objectContaining({ code: 'OptionError', message: expect.stringContaining(message) })
    expect(() => make({ plugins: { cron: options } })).toThrow(thrown)
  })

  test('wrong jobs of the server option background.crons have its path', () => {
    expect(() => make({ background: { crons: ['src/*.js', 5 as never] } })).toThrow(
      /^the option "background\.crons\[1\]" is 5; it takes a glob/,
    )
  })

  test('wrong options of a page that is registered by itself name its plugin', () => {
    expect(() => make({ plugins: [cronPlugin(), cronUi({ path: 'crons' })] })).toThrow(
      /^the option "cronUi\.path" is "crons";.* The plugin "cronUi" is registered at/,
    )
  })
})
