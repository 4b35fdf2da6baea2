import type { Readable, Writable } from 'node:stream'
import * as clack from '@clack/prompts'

/** Questions on a terminal, one after the other. */
export interface Prompts {
  /** Asks until `check` accepts the answer; Enter alone selects `fallback`. */
  text(question: string, fallback: string, check?: (answer: string) => string | undefined): Promise<string>
  /** Asks for one of several, chosen with the arrow keys. */
  choice<Name extends string>(question: string, names: readonly Name[], fallback: Name): Promise<Name>
  /** Asks for any of several, marked with the space bar; Enter alone selects none. */
  several<Name extends string>(question: string, options: Readonly<Partial<Record<Name, string>>>): Promise<Name[]>
  confirm(question: string, fallback: boolean): Promise<boolean>
}

/** Ctrl+C or Escape instead of an answer. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Cancelling one question cancels all of them. */
function answered<Answer>(answer: Answer | symbol): Answer {
  if (clack.isCancel(answer)) throw new Cancelled('cancelled')
  return answer as Answer
}

export function openPrompts(input: Readable, output: Writable): Prompts {
  const streams = { input, output }
  return {
    async text(message, fallback, check = () => undefined) {
      const validate = (typed: string | undefined) => check(typed?.trim() || fallback)
      const typed = await clack.text({ ...streams, message, placeholder: fallback, defaultValue: fallback, validate })
      return answered<string>(typed).trim()
    },
    async choice<Name extends string>(message: string, names: readonly Name[], fallback: Name) {
      const options = names.map((name) => ({ value: name as string }))
      return answered(await clack.select<string>({ ...streams, message, options, initialValue: fallback })) as Name
    },
    async several<Name extends string>(message: string, hints: Readonly<Partial<Record<Name, string>>>) {
      const options = Object.entries<string>(hints as Record<string, string>).map(([value, hint]) => ({
        value,
        label: `${value.padEnd(8)} ${hint}`,
      }))
      return answered(await clack.multiselect<string>({ ...streams, message, options, required: false })) as Name[]
    },
    async confirm(message, fallback) {
      return answered<boolean>(await clack.confirm({ ...streams, message, initialValue: fallback }))
    },
  }
}
