import { expect, test } from 'vitest'
import { each, workersOf } from '../../support/queue-processes.ts'

const { servers, queuesOf, startWorker } = workersOf(['bullmq', 'pgboss'])
const away = queuesOf('away')

test('an engine that is away keeps neither the server from closing nor the process from ending', async () => {
  await each(away, async (one) => {
    // With its engine alone: the other one has a worker of its own.
    const worker = await startWorker([one.with({ ms: 300 })], [one.engine], { lingers: true })
    await one.queue.publish(1, one.engine.impatiently)
    await one.until(() => one.notes('begin').length === 1, 'the handler')
    await servers.get(one.kind)!.kill()
    worker.child.kill('SIGTERM')
    // Whatever tried to reach the engine again would keep it from ending.
    expect(await worker.exited, worker.output()).toBe(0)
    expect(one.notes('end')).toHaveLength(1)
  })
})

test('two engines that do not respond leave the close hooks their time: handlers finish, and the process ends with 0', async () => {
  const engines = away.map(({ engine }) => engine)
  const both = queuesOf('frozen', engines)
  await Promise.all(both.map(({ kind }) => servers.get(kind)!.restart()))
  const worker = await startWorker(
    both.map((one) => one.with({ ms: 300 })),
    engines,
    // Time enough on a busy machine; were it over, the code would be 1.
    { closeTimeout: 8000 },
  )
  await each(both, async (one) => {
    await one.queue.publish(1, one.engine.impatiently)
    await one.until(() => one.notes('begin').length === 1, 'the handler')
  })
  for (const { kind } of both) servers.get(kind)!.freeze()
  worker.child.kill('SIGTERM')
  expect(await worker.exited, worker.output()).toBe(0)
  for (const { kind } of both) servers.get(kind)!.thaw()
  for (const one of both) expect(one.notes('end')).toHaveLength(1)
  expect(worker.output()).not.toMatch(/still working|close hook/)
  expect(worker.output()).toContain('did not learn which messages are handled')
})
