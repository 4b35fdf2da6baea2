import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import postgresClient from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { withTypeScript } from '../../../test/support/typescript-process.ts'
import { Companies } from './companies.ts'
import { makeServer } from './server.ts'

const root = join(import.meta.dirname, '../../..')

describe.skipIf(!hasPostgres)('an order and the death of its process', () => {
  let companies: Companies
  let postgres: OwnServer
  let web: ReturnType<typeof makeServer>
  interface Worker {
    kill(signal: NodeJS.Signals): boolean
    readonly ended: Promise<[number | null, NodeJS.Signals | null]>
    readonly drains: Promise<void>
  }
  let running: Worker | undefined

  beforeAll(async () => {
    postgres = await startPostgres()
    companies = new Companies()
    vi.stubEnv('DATABASE_URL', postgres.url)
    vi.stubEnv('LOG_LEVEL', 'warn')
    vi.stubEnv('COMPANIES_URL', await companies.listen())
    // This process only accepts orders: under inject, it works on none.
    web = makeServer()
    await web.ready()
  })
  afterAll(async () => {
    running?.kill('SIGKILL')
    await web.close()
    companies.close()
    vi.unstubAllEnvs()
    await postgres.stop()
  })

  /** Starts the example in a process of its own, unless the case before has left one. */
  function startWorker(): Worker {
    if (running !== undefined) return running
    const args = [...withTypeScript, join(import.meta.dirname, 'main.ts')]
    const env = { ...process.env, NODE_OPTIONS: '', LOG_LEVEL: 'info' }
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
    child.once('exit', () => {
      running = undefined
    })
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    const drains = new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => line.includes('no more workflows') && resolve())
    })
    running = { kill: (signal) => child.kill(signal), ended, drains }
    return running
  }

  async function order() {
    const id = crypto.randomUUID()
    const res = await web.inject.post('/orders', { body: { id, book: 'Dune', email: 'ada@example.org' } })
    return { id, run: res.assertStatus(202).body<{ run: string }>().run }
  }
  const finished = (run: string) =>
    expect
      .poll(async () => (await web.inject.get(`/runs/${run}`)).body(), { timeout: 60_000 })
      .toEqual({
        status: 'completed',
        output: { state: 'sent' },
      })

  /** The run of a process that has died is due again when its lease is over, after 30 seconds. The test does not wait for that. */
  async function endLeases() {
    const sql = postgresClient(postgres.url, { max: 1 })
    await sql`update openworkflow.workflow_runs set available_at = now() where status = 'running'`
    await sql.end()
  }

  const of = (calls: Iterable<string>, id: string) => [...calls].filter((call) => call.startsWith(id))

  test.each([
    {
      when: 'a step was done, and not yet recorded',
      step: 'charge',
      isDone: true,
      asked: ['reserve', 'charge', 'charge', 'email'],
    },
    {
      when: 'one step was recorded, and the next one not done',
      step: 'email',
      isDone: false,
      asked: ['reserve', 'charge', 'email', 'email'],
    },
  ])('killed when $when: the next process does what is not recorded', async ({ step, isDone, asked }) => {
    const { id, run } = await order()
    const held = companies.hold(`${id} ${step}`)
    const first = startWorker()
    const call = await held
    if (isDone) call.act()
    first.kill('SIGKILL')
    expect(await first.ended).toEqual([null, 'SIGKILL'])
    await endLeases()

    startWorker()
    await finished(run)
    expect(of(companies.asked, id)).toEqual(asked.map((name) => `${id} ${name}`))
    expect(of(companies.done, id)).toEqual(['reserve', 'charge', 'email'].map((name) => `${id} ${name}`))
  })

  test('a process that receives SIGTERM finishes its step, and hands the rest over at once', async () => {
    const { id, run } = await order()
    const held = companies.hold(`${id} charge`)
    const first = startWorker()
    const call = await held
    first.kill('SIGTERM')
    await first.drains
    call.respond()
    expect(await first.ended).toEqual([0, null])
    expect(of(companies.asked, id)).toEqual([`${id} reserve`, `${id} charge`])

    startWorker()
    await finished(run)
    expect(of(companies.asked, id)).toEqual([`${id} reserve`, `${id} charge`, `${id} email`])
  })
})
