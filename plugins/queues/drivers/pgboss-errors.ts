import { setTimeout as pause } from 'node:timers/promises'
import { QueuePayloadError } from '../errors.ts'

/**
 * Retries queries that Postgres has ended to resolve a deadlock. Version 10 creates a table for each queue: in a measurement with
 * three queues created at the same time, that deadlocked with itself and with publishers.
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

/** Explains a refused payload: Postgres allows neither NUL nor half a surrogate pair in strings, while JSON allows both. */
export function explain(topic: string): (error: unknown) => never {
  return (error) => {
    const { code } = error as { code?: unknown }
    if (code !== '22P05' && code !== '22P02') throw error
    throw Object.assign(QueuePayloadError(topic, 'has a character that Postgres cannot keep, such as NUL'), {
      cause: error,
    })
  }
}
