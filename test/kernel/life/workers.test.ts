import { afterEach, describe, expect, test, vi } from 'vitest'
import { definePlugin, Server } from '../../../index.ts'
import type { WorkerPlace } from '../../../kernel/index.ts'
import { askLeader, refuseSeveral } from '../../../plugins/shared/environment/several-workers.ts'
import { setSupervisor } from '../../../plugins/shared/environment/supervisor.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  Reflect.deleteProperty(globalThis, Symbol.for('framework.supervisor'))
})

describe('the place among several workers', () => {
  test('is that of the environment', () => {
    expect(new Server().worker).toBeUndefined()
    vi.stubEnv('FRAMEWORK_WORKER', '2/4')
    expect(new Server().worker).toEqual({ number: 2, of: 4 })
    vi.stubEnv('FRAMEWORK_WORKER', '')
    expect(new Server().worker).toBeUndefined()
  })

  test.each([
    '2',
    '0/2',
    '3/2',
    '1/0',
    'a/b',
    ' 1/2',
    '1/2/3',
    '-1/2',
    '1e1/20',
    '99999/99999',
  ])('that cannot be meant is an error: %j', (value) => {
    vi.stubEnv('FRAMEWORK_WORKER', value)
    expect(() => new Server()).toThrow(
      expect.objectContaining({
        code: 'WorkerVariableError',
        message: expect.stringContaining(`FRAMEWORK_WORKER is ${JSON.stringify(value)}`),
      }),
    )
  })

  test('a plugin refuses to be one of several', () => {
    const refuse = (place: WorkerPlace | undefined) => () =>
      refuseSeveral(place, 'votes are counted', 'Set votes.store')
    expect(refuse(undefined)).not.toThrow()
    expect(refuse({ number: 1, of: 1 })).not.toThrow()
    expect(refuse({ number: 2, of: 4 })).toThrow(
      'votes are counted in the memory of each process, and this is worker 2 of 4. Set votes.store, or run one worker',
    )
  })
})

/** A supervisor of one worker, and its received events. */
function supervise() {
  const reported: string[] = []
  const waiting: (() => void)[] = []
  let leads = false
  setSupervisor({
    share: async (_host, port) => port,
    starting() {
      reported.push('starting')
      return {
        listens: () => void reported.push('listens'),
        failed: () => void reported.push('failed'),
        closed: async () => void reported.push('closed'),
      }
    },
    get leads() {
      return leads
    },
    onLead: (run) => void waiting.push(run),
    ask: async (topic, question) => ({ topic, question }),
    answer() {},
  })
  return {
    reported,
    lead() {
      leads = true
      for (const run of waiting.splice(0)) run()
    },
  }
}

/** A plugin that notes when its hooks are called; the first calls of the lead hook fail. */
function noting(failures = 0) {
  const calls: string[] = []
  const plugin = definePlugin({
    name: 'noting',
    setup(ctx) {
      ctx.onLead(async () => {
        calls.push('lead')
        if (calls.filter((call) => call === 'lead').length <= failures) throw new Error('not yet')
      })
      ctx.onListen(() => void calls.push('listen'))
    },
  })
  const server = new Server({ port: 0, host: '127.0.0.1', drainWindow: 0, plugins: [plugin()] })
  return { calls, server }
}

describe('lead hooks', () => {
  test('run after the listen hooks in a single process, and never under inject', async () => {
    const { calls, server } = noting()
    await server.inject({ url: '/' })
    expect(calls).toEqual([])
    await server.listen()
    expect(calls).toEqual(['listen', 'lead'])
    await server.close()
  })

  test.each([
    ['1/2', ['listen', 'lead']],
    ['2/2', ['listen']],
  ])('run in the first worker where no supervisor says more: %s', async (place, expected) => {
    vi.stubEnv('FRAMEWORK_WORKER', place)
    const { calls, server } = noting()
    await server.listen()
    expect(calls).toEqual(expected)
    await server.close()
  })

  test('run when this worker takes over, and again after a failure', async () => {
    vi.stubEnv('FRAMEWORK_WORKER', '2/2')
    const supervisor = supervise()
    const { calls, server } = noting(1)
    const error = vi.spyOn(server.logger, 'error').mockImplementation(() => {})
    await server.listen()
    expect(calls).toEqual(['listen'])
    supervisor.lead()
    await vi.waitFor(() => expect(calls).toEqual(['listen', 'lead', 'lead']), 20_000)
    expect(error.mock.lastCall?.[1]).toContain('"noting"')
    await server.close()
    expect(supervisor.reported).toEqual(['starting', 'listens', 'closed'])
  })

  test('fail the start where this worker leads from the beginning', async () => {
    const supervisor = supervise()
    supervisor.lead()
    const { calls, server } = noting(1)
    await expect(server.listen()).rejects.toThrow('not yet')
    expect(calls).toEqual(['listen', 'lead'])
    expect(supervisor.reported).toEqual(['starting', 'closed', 'failed'])
  })
})

test('the worker that leads is asked through the supervisor, and not without one', async () => {
  await expect(askLeader('votes', 1)).rejects.toMatchObject({ code: 'WorkerLeadError', status: 503 })
  supervise()
  expect(await askLeader('votes', 1)).toEqual({ topic: 'votes', question: 1 })
})
