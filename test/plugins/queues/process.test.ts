import { beforeAll, describe, expect, test } from 'vitest'
import { each, type Worker, workersOf } from '../../support/queue-processes.ts'
import { until } from '../../support/queues.ts'

const { used, servers, queuesOf, startWorker } = workersOf(['bullmq', 'pgboss', 'sqs'])
const killed = queuesOf('killed')
const shared = queuesOf('shared')
const terminated = queuesOf('terminated')
const blocked = queuesOf(
  'blocked',
  used.filter(({ kind }) => kind === 'bullmq'),
)

beforeAll(() =>
  each([...killed, ...shared, ...terminated], async ({ engine, name }) => {
    await engine.create?.(servers.get(engine.kind)!.url, name)
  }),
)

/** Those of a test that does not end them, which the later ones use. */
const sharers: Worker[] = []
const sharing = () => shared.map((one) => one.with({ ms: 5, concurrency: 3 }))

describe.concurrent('one after the other', () => {
  test.sequential('a message whose worker was killed runs again, in another', async () => {
    const first = await startWorker(killed.map((one) => one.with({ ms: 60_000 })))
    // Last those whose messages come again although their worker lives.
    for (const impatient of [false, true])
      await each(
        killed.filter(({ engine }) => (engine.impatiently !== undefined) === impatient),
        async (one) => {
          await one.queue.publish(1, one.engine.impatiently)
          await one.until(() => one.notes('begin').length === 1, 'the first run')
        },
      )
    first.child.kill('SIGKILL')
    await first.exited
    const second = await startWorker([...killed.map((one) => one.with({})), ...sharing()])
    sharers.push(second)
    await each(killed, async (one) => {
      await one.until(() => one.notes('end').length === 1, 'the second run')
      expect(one.notes('begin').map(({ pid }) => pid)).toEqual([first.child.pid, second.child.pid])
      expect(one.notes('end')).toEqual([{ what: 'end', payload: 1, pid: second.child.pid }])
    })
  })

  test.sequential('two processes share the messages: each runs once', async () => {
    sharers.push(await startWorker([...sharing(), ...terminated.map((one) => one.with({ ms: 500, concurrency: 4 }))]))
    const both = sharers.map(({ child }) => child.pid)
    await each(shared, async (one) => {
      const pids = () => new Set(one.notes('begin').map(({ pid }) => pid))
      let count = 0
      // A process that asks late may find none of a hundred.
      while (pids().size < 2) {
        const first = count
        count += 100
        await one.queue.publishMany(Array.from({ length: 100 }, (_, i) => first + i))
        await one.until(() => one.notes('end').length >= count, 'all')
      }
      expect(new Set(one.notes('end').map(({ payload }) => payload)).size).toBe(count)
      expect(one.notes('end'), one.kind).toHaveLength(count)
      expect(pids()).toEqual(new Set(both))
    })
  })

  test.sequential('SIGTERM lets running handlers finish, begins no other, and loses nothing', async () => {
    await each(terminated, async (one) => {
      await one.queue.publishMany([...Array(20).keys()])
      await one.until(() => one.notes('begin').length >= 4, 'running handlers')
    })
    const begun = terminated.map((one) => one.notes('begin').length)
    const first = sharers[1]!
    first.child.kill('SIGTERM')
    // It would be 1 if the server had waited until its time limit.
    expect(await first.exited).toBe(0)
    for (const [i, one] of terminated.entries()) {
      // One lot may have been under way from the engine.
      expect(one.notes('begin').length).toBeLessThanOrEqual(begun[i]! + 4)
      expect(one.notes('end').length).toBe(one.notes('begin').length)
    }

    await startWorker(terminated.map((one) => one.with({ concurrency: 4 })))
    await each(terminated, async (one) => {
      await one.until(() => new Set(one.notes('end').map(({ payload }) => payload)).size === 20, 'the rest')
      expect(one.notes('end'), one.kind).toHaveLength(20)
    })
  })
})

test.concurrent('a handler that lets nothing else run loses its message to another process, is notified, and continues', async () => {
  await each(blocked, async (one) => {
    const both = await Promise.all([1, 2].map(() => startWorker([one.with({ blocks: 4500 })], [one.engine])))
    await one.queue.publish(1)
    await one.until(() => one.notes('end').length === 2, 'both runs')
    const [first, second] = one.notes('begin').map(({ pid }) => both.find(({ child }) => child.pid === pid)!)
    expect(first).not.toBe(second)
    expect(one.notes('end').map(({ pid }) => pid)).toEqual([second!.child.pid, first!.child.pid])
    await until(() => first!.output().includes('another worker received a job'), 'the warning')
    second!.child.kill('SIGKILL')
    await one.queue.publish(2)
    await one.until(() => one.notes('end').some(({ payload }) => payload === 2), 'the next message')
    expect(first!.child.exitCode).toBeNull()
  })
})
