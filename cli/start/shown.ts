import { type ProcessReport, processStore, reportKept } from '../../plugins/shared/development/process-report.ts'
import { handover } from '../../plugins/shared/environment/handover.ts'
import { isProduction } from '../../plugins/shared/environment/node-env.ts'
import { saidOf } from '../process/child.ts'
import { joinInspector } from '../serve/inspector-address.ts'
import { beatMs } from './protocol.ts'
import type { ShownWorkers } from './worker.ts'

/** Shows workers on the page of `framework serve` in the same project; `undefined` without one, and in production. */
export function showWorkers(folder: string, of: number, note: (line: string) => void): ShownWorkers | undefined {
  if (isProduction() || joinInspector(folder, 'start', note) === undefined) return undefined
  const { set, sent } = handover()!.open(processStore, () => {})
  const places = new Map<number, number>()
  return {
    sent,
    begun(worker) {
      const { pid, number } = worker
      if (pid === undefined) return
      const restarts = places.get(number) ?? 0
      places.set(number, restarts + 1)
      const same = { pid, runs: `worker ${number} of ${of}`, since: Date.now(), restarts }
      const report = (why?: string) => {
        const told: ProcessReport = { ...same, state: worker.phase, why, memory: worker.memory }
        set(String(pid), JSON.stringify(told), Date.now() + reportKept)
      }
      report()
      const timer = setInterval(() => report(), beatMs)
      void worker.ended.then((ended) => {
        clearInterval(timer)
        report(saidOf(ended))
      })
    },
  }
}
