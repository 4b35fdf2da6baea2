import { QueuePayloadError } from './errors.ts'

const kindOf = (payload: unknown) =>
  typeof payload === 'object' ? 'an object whose toJSON gives nothing' : `a ${typeof payload}`

/** A payload as the text that engines keep; what JSON has no form for is an error, and not lost on the way. */
export function textOf(queue: string, payload: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    throw Object.assign(QueuePayloadError(queue, `cannot be written as JSON: ${why}`), { cause: error })
  }
  if (text === undefined) {
    throw QueuePayloadError(
      queue,
      `is ${payload === undefined ? 'undefined' : kindOf(payload)}, which JSON has no form for. Use null, or a plain object`,
    )
  }
  return text
}
