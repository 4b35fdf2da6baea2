import { constants } from 'node:os'
import { defineErrors, systemClock } from '../kernel/index.ts'
import type { Closable, LeadParts, WorkerPlace, Workers } from '../kernel/support/worker.ts'
import { isLeading, supervisor } from './shared/environment/supervisor.ts'
import { safely } from './shared/values/safely.ts'

/** Milliseconds until a hook that has failed is called again; doubled each time. */
const firstPauseMs = 500
const longestPauseMs = 30_000

const { WorkerVariableError } = defineErrors({
  WorkerVariableError: (given: string) =>
    `FRAMEWORK_WORKER is ${JSON.stringify(given)}; it takes the number of this worker and how many there are, such as "2/4". The process manager sets it; leave it out for a single process`,
})

/** This process among its workers: one of those that `framework start` runs, one that a process manager numbers, or a single one. */
export function workersOfProcess(): Workers {
  const place = placeOfProcess()
  return {
    place,
    share: place && (supervisor()?.share ?? (async (_host, port) => port)),
    closeOnSignals,
    starting: () => supervisor()?.starting(),
    async lead(parts) {
      if (parts.hooks.length === 0) return
      if (!isLeading(place)) return supervisor()?.onLead(() => void takeOver(parts))
      for (const run of parts.hooks) await run()
    },
  }
}

function placeOfProcess(): WorkerPlace | undefined {
  // Deno throws where the permission is missing.
  const given = safely(() => process.env.FRAMEWORK_WORKER)
  if (given === undefined || given === '') return undefined
  const [, number, of] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(given) ?? []
  if (number === undefined || Number(number) > Number(of)) throw WorkerVariableError(given)
  return { number: Number(number), of: Number(of) }
}

/** No caller is left to receive a failure at this point, and requests continue, so a hook that fails is called again. */
async function takeOver({ hooks, isClosing, report }: LeadParts): Promise<void> {
  for (const run of hooks) {
    for (let pause = firstPauseMs; !isClosing(); pause = Math.min(2 * pause, longestPauseMs)) {
      try {
        await run()
        break
      } catch (error) {
        report(error)
        await new Promise<void>((resolve) => void systemClock.setTimeout(resolve, pause).unref?.())
      }
    }
  }
}

const signals = ['SIGTERM', 'SIGINT'] as const
const open = new Set<Closable>()
let closing = false

function onSignal(signal: (typeof signals)[number]): void {
  // A second signal ends the process immediately.
  if (closing) process.exit(128 + (constants.signals[signal] ?? 15))
  closing = true
  let status = 0
  const failed = (server: Closable) => (error: unknown) => {
    status = 1
    server.report(error)
  }
  const servers = [...open]
  const closed = servers.map((server) => server.close().catch(failed(server)))
  Promise.all(closed).then(() => process.exit(servers.some((one) => one.abandonedWork) ? 1 : status))
}

/**
 * Closes a server, together with all others of the process, on SIGTERM and SIGINT, and then exits: with 0, or 1 when a close failed or
 * did not wait for running work.
 * Returns a function that stops watching.
 */
function closeOnSignals(server: Closable): () => void {
  if (open.size === 0) for (const signal of signals) process.on(signal, onSignal)
  open.add(server)
  return () => {
    open.delete(server)
    if (open.size === 0 && !closing) for (const signal of signals) process.off(signal, onSignal)
  }
}
