import { Server } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lookAt } from '../../../test/plugins/inspector/support.ts'
import type { OwnServer } from '../../../test/support/own-server.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { keepSpans, placed, treeOf } from '../../../test/support/spans.ts'
import { Companies } from './companies.ts'
import { orders } from './orders.ts'
import { workflows } from './workflows.ts'

describe.skipIf(!hasPostgres)('what is seen of an order', () => {
  const companies = new Companies()
  const spans = keepSpans()
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    companies.close()
    spans.end()
    await postgres.stop()
  })

  test('each step has one span, in a trace that is linked to the request, and a row in the inspector', async () => {
    const plugins = {
      telemetry: true,
      inspector: true,
      workflows: workflows({ url: postgres.url }),
      orders: orders({ companies: await companies.listen() }),
    } as const
    await using server = new Server({ port: 0, plugins })
    await server.ready()
    const body = { id: crypto.randomUUID(), book: 'Dune', email: 'ada@example.org' }
    const { run } = (await server.inject.post('/orders', { body })).assertStatus(202).body<{ run: string }>()
    await server.services.workflows.work()
    await expect.poll(() => server.services.workflows.find(run)).toMatchObject({ status: 'completed' })
    await server.services.workflows.drain()

    const step = ['  step_attempt.execute', '    POST']
    const tree = ['POST /orders', '  handler /orders', '    workflow_run.create']
    expect(treeOf(spans.all.map(placed))).toEqual([...tree, 'workflow_run.execute', ...step, ...step, ...step])
    const created = spans.named('workflow_run.create').spanContext()
    expect(spans.named('workflow_run.execute').links.map(({ context }) => context.spanId)).toEqual([created.spanId])

    const rows = await (await lookAt(server as unknown as Server)).list('workflows')
    const titles = rows.map(({ title, outcome }) => `${title} ${outcome}`)
    const expected = ['step order charge ok', 'step order email ok', 'step order reserve ok', 'workflow order ok']
    expect(titles.sort()).toEqual(expected)
  })
})
