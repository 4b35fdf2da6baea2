import { setTimeout as pause } from 'node:timers/promises'
import { QueuePayloadError } from '../errors.ts'

/**
 * Tries again what Postgres has ended to resolve a deadlock. Version 10 makes a table for each queue, and measured with
 * three queues made at the same time that locks itself out, and those who send.
 */
export async function unlocked<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if ((error as { code?: unknown }).code !== '40P01' || tries === 10) throw error
      await pause(Math.random() * 50 * tries)
    }
  }
}

/** Postgres has no NUL in text and no half of a pair of surrogates, which JSON has. */
export function explain(topic: string): (error: unknown) => never {
  return (error) => {
    const { code } = error as { code?: unknown }
    if (code !== '22P05' && code !== '22P02') throw error
    throw Object.assign(QueuePayloadError(topic, 'has a character that Postgres cannot keep, such as NUL'), {
      cause: error,
    })
  }
}
