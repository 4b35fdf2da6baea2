import { constants } from 'node:os'

import type { Closable } from '../../../kernel/support/worker.ts'

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
export function closeOnSignals(server: Closable): () => void {
  if (open.size === 0) for (const signal of signals) process.on(signal, onSignal)
  open.add(server)
  return () => {
    open.delete(server)
    if (open.size === 0 && !closing) for (const signal of signals) process.off(signal, onSignal)
  }
}
