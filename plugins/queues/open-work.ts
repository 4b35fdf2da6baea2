import type { QueueDriver } from '../shared/engines/contract.ts'
import { metaOf } from '../shared/engines/meta.ts'
import type { OpenWork } from '../shared/work/open-work.ts'
import type { QueueService } from './service.ts'

/** How many messages of one state are named. */
const mostNamed = 100

/** The messages of all queues that are not handled yet. */
export async function openWork(queues: QueueService): Promise<OpenWork[]> {
  const served = new Set(queues.subscribers().map(({ queue, kind }) => `${kind} ${queue}`))
  const all = queues.declared().map(async (queue) => {
    const work = await queues.engines.ask(queue, (driver, signal) => messagesOf(driver, queue.name, signal))
    if (served.has(`${queue.kind} ${queue.name}`)) return work
    return work.map(({ what }) => ({ what: `${what}, which has no subscriber in this server`, isElsewhere: true }))
  })
  return (await Promise.all(all)).flat()
}

async function messagesOf(driver: QueueDriver<object>, name: string, signal: AbortSignal): Promise<OpenWork[]> {
  const operations = driver.operations(signal)
  const ofQueue = `of the queue "${name}"`
  if (operations === undefined) {
    const { waiting, active } = await driver.counts(name, signal)
    return waiting + active > 0 ? [{ what: `${waiting + active} messages ${ofQueue}` }] : []
  }
  const states = (['active', 'waiting', 'delayed'] as const).map((state) => operations.list(name, state, 0, mostNamed))
  return (await Promise.all(states)).flat().map(({ id, meta, state, dueAt, site }) => ({
    what: `the message ${metaOf(meta).id ?? id} ${ofQueue}${site === undefined ? '' : `, published at ${site}`}`,
    due: state === 'delayed' ? new Date(dueAt ?? Number.NaN) : undefined,
  }))
}
