import { setImmediate as macrotask } from 'node:timers/promises'
import type { MicroCase } from '../micro/harness.ts'

export type Side = 'by hand' | 'framework'

/** One operation, which throws an error when its result is wrong. */
export type Operation = () => unknown

/**
 * Makes the two cases of a group, each with this many operations at a time: one if no server is
 * involved, more with a server, as in a busy application.
 */
export const pair = (group: string, width: number, sides: Readonly<Record<Side, Operation>>): MicroCase[] =>
  Object.entries(sides).map(([name, operation]) => ({ group, name, run: repeat(operation, width) }))

function repeat(operation: Operation, width: number) {
  return async (times: number) => {
    for (let done = 0; done < times; done += width) {
      // Lets timers and sockets run, as between two requests.
      if (width > 1 || done % 64 === 0) await macrotask()
      if (width === 1) await operation()
      else await Promise.all(Array.from({ length: Math.min(width, times - done) }, operation))
    }
  }
}

/** Makes a row in place of cases whose server is missing. */
export const missing = (group: string, server: string): MicroCase => ({
  group,
  name: `${server} is missing`,
  isMissing: true,
  run() {},
})

export function must(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}

/** Messages that come back in a handler, one for each message published: both together are one operation. */
export class Handled<Message> {
  readonly #isRight: (message: Message) => boolean
  readonly #waiting: (() => void)[] = []

  constructor(isRight: (message: Message) => boolean) {
    this.#isRight = isRight
  }

  readonly handle = async (message: Message): Promise<void> => {
    must(this.#isRight(message), 'another message has arrived')
    this.#waiting.shift()?.()
  }

  /** All messages are alike, so the next one in the handler counts as the one that was published. */
  through(publish: () => Promise<unknown>): Operation {
    return () => {
      const handled = new Promise<void>((resolve) => this.#waiting.push(resolve))
      return Promise.all([publish(), handled])
    }
  }
}
