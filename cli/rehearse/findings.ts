import type { Instance } from './instance.ts'
import type { Jobs, QueueLoss } from './jobs.ts'
import type { Closing } from './protocol.ts'
import type { Loss } from './traffic.ts'

/** Something that the clients of an application would have noticed. */
export interface Finding {
  /** `killed`: a kill costs that, whatever the application does. */
  readonly level: 'lost' | 'killed'
  readonly count: number
  readonly what: string
  readonly remedy: string
}

const lost = (what: string, remedy: string, count = 1): Finding => ({ level: 'lost', count, what, remedy })

const remedies = {
  response:
    'End what requests use in onClose hooks: those of onDrain and of signals run while requests are in progress',
  stream: 'End streams when req.server.closing aborts',
  websocket: 'Close sockets with a code, such as socket.close(1001), or leave that to the plugin websocket',
}

/** One finding for losses that are alike. */
export function ofLosses(losses: readonly Loss[], killed: Instance): Finding[] {
  const groups = new Map<string, Loss[]>()
  for (const loss of losses) {
    const key = [loss.what, loss.target, loss.why, loss.error, loss.instance?.name].join(' ')
    groups.set(key, [...(groups.get(key) ?? []), loss])
  }
  return [...groups.values()].map((group) => {
    const { what, target, why, instance, after, hooks, error } = group[0]!
    const message = `${what} ${target}: ${why}${error === undefined ? '' : ` (${error})`}`
    if (after === undefined) {
      const remedy =
        instance === undefined ? 'No instance was ready: see the health route' : 'See the log of the application'
      return lost(message, remedy, group.length)
    }
    if (instance === killed) return { ...lost(message, 'Clients have to try again', group.length), level: 'killed' }
    const begun = hooks.length === 0 ? 'before any hook' : `after ${hooks.join(' and ')} had begun`
    return lost(`${message}, ${after} ms after SIGTERM, ${begun}`, remedies[what], group.length)
  })
}

export function ofClosing({ ms, ended, hooks }: Closing): Finding[] {
  const found = hooks.flatMap(({ name, ms: took, error }) => {
    if (took === undefined)
      return lost(`${name} did not settle`, 'Give up what it waits for within the time that the hook receives')
    return error === undefined ? [] : lost(`${name} failed: ${error}`, 'Handle that error in the hook')
  })
  if (ended === 'exit code 0' || found.length > 0) return found
  const remedy = 'Its output says why. End long work when server.closing aborts, or raise closeTimeout'
  return [lost(`closing ended with ${ended} after ${ms} ms`, remedy)]
}

export function ofJobs({ late, twice }: Jobs, queues: readonly QueueLoss[]): Finding[] {
  const lateRemedy = 'Start nothing when server.closing has aborted'
  const twiceRemedy = 'Give cron a lock, and let handlers of queues end before their connection does'
  return [
    ...[...late].map(([job, count]) =>
      lost(`${job} began after its instance had stopped its intake`, lateRemedy, count),
    ),
    ...[...twice].map(([job, count]) => lost(`${job} was done twice before any kill`, twiceRemedy, count)),
    ...queues.map(({ queue, kind, count }) => {
      const engine = 'A kill loses messages in memory: put the queue on an engine, for example with QUEUE_ENGINE=bullmq'
      const remedy =
        kind === 'memory' ? engine : 'Look for them on the page of the queues, and in the log of the engine'
      return lost(`messages of the queue "${queue}" were accepted and never done`, remedy, count)
    }),
  ]
}
