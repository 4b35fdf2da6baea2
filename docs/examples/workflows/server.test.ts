import { EventEmitter, once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { definePlugin, Server } from 'framework'
import { defineWorkflowSpec } from 'openworkflow'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { Companies } from './companies.ts'
import { makeServer } from './server.ts'
import { workflows } from './workflows.ts'

test('without an address of the database, the error names the option and the variable', () => {
  vi.stubEnv('DATABASE_URL', '')
  expect(() => makeServer('http://127.0.0.1:1')).toThrow(/"workflows\.url".*DATABASE_URL/)
  vi.unstubAllEnvs()
})

test('a server that never boots connects to nothing, and closes', async () => {
  const server = new Server({ plugins: { workflows: workflows({ url: 'postgres://127.0.0.1:1/none' }) } })
  await server.close()
})

test('a server that cannot reach the database does not boot, and says which plugin fails', async () => {
  const server = new Server({ plugins: { workflows: workflows({ url: 'postgres://127.0.0.1:1/none' }) } })
  await expect(server.ready()).rejects.toThrow(/plugin "workflows".*ECONNREFUSED 127\.0\.0\.1:1/s)
})

describe.skipIf(!hasPostgres)('orders', () => {
  const companies = new Companies()
  let postgres: OwnServer
  let url: string
  const start = () => makeServer(url)

  beforeAll(async () => {
    postgres = await startPostgres()
    vi.stubEnv('DATABASE_URL', postgres.url)
    vi.stubEnv('LOG_LEVEL', 'warn')
    url = await companies.listen()
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    companies.close()
    await postgres.stop()
  })

  type Started = ReturnType<typeof start>
  async function order(server: Started, id: string = crypto.randomUUID()) {
    const res = await server.inject.post('/orders', { body: { id, book: 'Dune', email: 'ada@example.org' } })
    return { id, run: res.assertStatus(202).body<{ run: string }>().run }
  }
  const outcome = async (server: Started, run: string) => (await server.inject.get(`/runs/${run}`)).body()
  const asked = (id: string) => companies.asked.filter((key) => key.startsWith(id)).map((key) => key.split(' ')[1])

  test('servers that start together on an empty database all boot', async () => {
    const servers = Array.from({ length: 5 }, start)
    await Promise.all(servers.map((server) => server.ready()))
    await Promise.all(servers.map((server) => server.close()))
  })

  test('an order is reserved, charged and confirmed; a request that comes twice is one run', async () => {
    await using server = start()
    // Under inject nothing runs until the test says so.
    await server.ready()
    const { id, run } = await order(server)
    expect((await order(server, id)).run).toBe(run)
    expect(await outcome(server, run)).toMatchObject({ status: 'pending' })
    await server.services.workflows.work()
    await expect.poll(() => outcome(server, run)).toEqual({ status: 'completed', output: { state: 'sent' } })
    expect(asked(id)).toEqual(['reserve', 'charge', 'email'])
  })

  test('what is refused is released again', async () => {
    await using server = start()
    await server.listen()
    const id = crypto.randomUUID()
    const charge = companies.hold(`${id} charge`)
    const { run } = await order(server, id)
    ;(await charge).respond(402)
    await expect.poll(() => outcome(server, run)).toMatchObject({ output: { state: 'refused' } })
    expect(asked(id)).toEqual(['reserve', 'charge', 'release'])
  })

  test('a step that fails is tried again, and is counted', async () => {
    await using server = start()
    const { port } = await server.listen()
    const id = crypto.randomUUID()
    const charge = companies.hold(`${id} charge`)
    const { run } = await order(server, id)
    ;(await charge).respond(500)
    await expect.poll(() => outcome(server, run)).toMatchObject({ output: { state: 'sent' } })
    expect(asked(id)).toEqual(['reserve', 'charge', 'charge', 'email'])
    const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(figures).toContain('workflow_step_duration_seconds_count{workflow="order",step="charge"} 2')
    expect(figures).toContain('workflow_step_failures_total{workflow="order",step="charge"} 1')
    // Of the run, both parts are measured: until the failure, and after it.
    expect(figures).toContain('workflow_run_duration_seconds_count{workflow="order"} 2')
  })

  test('two servers of one process share the runs', async () => {
    await using first = start()
    await using second = start()
    await Promise.all([first.listen(), second.listen()])
    const all = await Promise.all(Array.from({ length: 8 }, () => order(first)))
    for (const { id, run } of all) {
      await expect.poll(() => outcome(second, run)).toMatchObject({ output: { state: 'sent' } })
      expect(asked(id)).toEqual(['reserve', 'charge', 'email'])
    }
  })

  test('steps that run side by side finish while the server closes, and another server does only the rest', async () => {
    const spec = defineWorkflowSpec<null, void>({ name: 'side by side' })
    const done: string[] = []
    const steps = new EventEmitter()
    const sides = definePlugin({
      name: 'sides',
      dependencies: ['workflows'],
      setup(ctx) {
        ctx.services.get('workflows').implement(spec, async ({ step }) => {
          const held = (name: string) =>
            step.run({ name }, async () => {
              const ended = once(steps, `end ${name}`)
              steps.emit(name)
              await ended
              done.push(name)
            })
          const quick = async () => {
            await held('quick')
            await step.run({ name: 'next' }, () => void done.push('next'))
          }
          const slow = held('slow')
          await Promise.all([slow, quick()])
        })
      },
    })
    const make = () => new Server({ port: 0, plugins: { workflows: workflows(), sides: sides() } })
    const first = make()
    await first.listen()
    const begun = Promise.all([once(steps, 'slow'), once(steps, 'quick')])
    const { workflowRun } = await first.services.workflows.client.runWorkflow(spec, null)
    await begun
    const isClosing = once(first.closing, 'abort')
    const closed = first.close()
    await isClosing
    steps.emit('end quick')
    // Time enough to hand the run over too early.
    await pause(300)
    steps.emit('end slow')
    await closed
    expect(done).toEqual(['quick', 'slow'])

    await using second = make()
    await second.listen()
    await expect
      .poll(() => second.services.workflows.find(workflowRun.id))
      .toMatchObject({ status: 'completed', error: null })
    expect(done).toEqual(['quick', 'slow', 'next'])
  })

  test('a run that sleeps and waits for a signal has not failed meanwhile', async () => {
    const spec = defineWorkflowSpec<null, string>({ name: 'approval' })
    const approvals = definePlugin({
      name: 'approvals',
      dependencies: ['workflows'],
      setup(ctx) {
        ctx.services.get('workflows').implement(spec, async ({ step }) => {
          await step.sleep('rest', '10 ms')
          const approved = await step.waitForSignal<{ by: string }>({ signal: 'approved', timeout: '1 h' })
          return approved?.data.by ?? 'no one'
        })
      },
    })
    await using server = new Server({
      port: 0,
      plugins: { metrics: true, workflows: workflows(), approvals: approvals() },
    })
    const { port } = await server.listen()
    const { workflows: service } = server.services
    const { client } = service
    const { workflowRun } = await client.runWorkflow(spec, null)
    const signal = () => client.sendSignal({ signal: 'approved', data: { by: 'ada' } })
    await expect.poll(signal).toEqual({ workflowRunIds: [workflowRun.id] })
    await expect.poll(() => service.find(workflowRun.id)).toMatchObject({ status: 'completed', output: 'ada' })
    const figures = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    // Two parts if the signal comes at the moment when the run begins to wait, otherwise three.
    expect(figures).toMatch(/^workflow_run_duration_seconds_count\{workflow="approval"\} [23]$/m)
    expect(figures).not.toContain('workflow_run_failures_total{workflow="approval"}')
  })

  test('an error between two steps, such as a broken connection, does not end the run', async () => {
    const spec = defineWorkflowSpec<null, number>({ name: 'between' })
    let calls = 0
    let steps = 0
    const between = definePlugin({
      name: 'between',
      dependencies: ['workflows'],
      setup(ctx) {
        ctx.services.get('workflows').implement(spec, async ({ step }) => {
          await step.run({ name: 'first' }, () => void steps++)
          if (++calls === 1) throw new Error('the connection broke')
          return steps
        })
      },
    })
    await using server = new Server({ port: 0, plugins: { workflows: workflows(), between: between() } })
    await server.listen()
    const { client } = server.services.workflows
    const { workflowRun } = await client.runWorkflow(spec, null)
    const find = () => server.services.workflows.find(workflowRun.id)
    await expect.poll(find).toMatchObject({ status: 'completed', output: 1 })
    expect(calls).toBe(2)
  })

  test('while the database is away, a server is not ready; afterwards it works again, and it can close', async () => {
    const reported = vi.spyOn(console, 'error').mockReturnValue()
    vi.spyOn(console, 'log').mockReturnValue()
    const server = start()
    await server.listen()
    ;(await server.inject.get('/health/ready')).assertStatus(200).assertBodySubset({ checks: { workflows: 'ok' } })
    await postgres.kill()
    await expect.poll(async () => (await server.inject.get('/health/ready')).statusCode()).toBe(503)
    // The package reports failed polls there and nowhere else.
    await expect.poll(() => reported.mock.calls.flat()).toContain('Worker tick failed:')
    await postgres.restart()
    await expect.poll(async () => (await server.inject.get('/health/ready')).statusCode()).toBe(200)
    const { run } = await order(server)
    await expect.poll(() => outcome(server, run)).toMatchObject({ output: { state: 'sent' } })
    await server.close()
    vi.restoreAllMocks()
  })
})
