import type { Readable, Writable } from 'node:stream'
import * as clack from '@clack/prompts'

/** Ctrl+C or Escape instead of an answer. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** Cancelling one question cancels all of them. */
function answered<Answer>(answer: Answer | symbol): Answer {
  if (clack.isCancel(answer)) throw new Cancelled('cancelled')
  return answer as Answer
}

/** Questions on a terminal, one after the other. */
export type Prompts = ReturnType<typeof openPrompts>

export function openPrompts(input: Readable, output: Writable) {
  const streams = { input, output }
  return {
    /** Asks until `check` accepts the answer; Enter alone selects `fallback`. */
    async text(message: string, fallback: string, check: (answer: string) => string | undefined) {
      const validate = (typed: string | undefined) => check(typed?.trim() || fallback)
      const typed = await clack.text({ ...streams, message, placeholder: fallback, defaultValue: fallback, validate })
      return answered<string>(typed).trim()
    },
    /** Asks for one of several, chosen with the arrow keys. */
    async choice<Name extends string>(message: string, names: readonly Name[], fallback: Name) {
      const options = names.map((name) => ({ value: name as string }))
      return answered(await clack.select<string>({ ...streams, message, options, initialValue: fallback })) as Name
    },
    /** Asks for any of several, marked with the space bar; Enter alone selects none. */
    async several<Name extends string>(message: string, of: Readonly<Record<Name, { readonly about: string }>>) {
      const options = Object.entries<{ readonly about: string }>(of).map(([value, { about }]) => ({
        value,
        label: `${value.padEnd(8)} ${about}`,
      }))
      return answered(await clack.multiselect<string>({ ...streams, message, options, required: false })) as Name[]
    },
    async confirm(message: string) {
      return answered<boolean>(await clack.confirm({ ...streams, message, initialValue: true }))
    },
  }
}
