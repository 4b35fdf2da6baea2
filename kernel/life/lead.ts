import type { Hook } from '../plugin/hooks.ts'
import type { WorkerPlace } from '../support/worker.ts'
import { isLeading, supervisor } from '../support/worker.ts'

/** Milliseconds until a hook that has failed is called again; doubled each time. */
const firstPauseMs = 500
const longestPauseMs = 30_000

export interface LeadParts {
  readonly hooks: readonly Hook<'onLead'>[]
  readonly worker: WorkerPlace | undefined
  /** Runs hooks in order; rejects with the failure of one. */
  run(hooks: readonly Hook<'onLead'>[]): Promise<void>
  isClosing(): boolean
  report(error: unknown): void
}

/**
 * Runs the lead hooks: now if this process leads, so that their failure fails the start, otherwise when it takes over.
 * At that point no caller is left to receive a failure, and requests continue, so a hook that fails is called again.
 */
export async function lead(parts: LeadParts): Promise<void> {
  if (parts.hooks.length === 0) return
  if (isLeading(parts.worker)) await parts.run(parts.hooks)
  else supervisor()?.onLead(() => void takeOver(parts))
}

async function takeOver({ hooks, run, isClosing, report }: LeadParts): Promise<void> {
  for (const hook of hooks) {
    for (let pause = firstPauseMs; !isClosing(); pause = Math.min(2 * pause, longestPauseMs)) {
      try {
        await run([hook])
        break
      } catch (error) {
        report(error)
        await new Promise<void>((resolve) => void setTimeout(resolve, pause).unref?.())
      }
    }
  }
}
