import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Questions on a terminal, one after the other. */
export interface Prompts {
  /** Asks until `check` has nothing to say against the answer; Enter alone takes `fallback`. */
  text(question: string, fallback: string, check?: (answer: string) => string | undefined): Promise<string>
  /** One of several, by number or name. */
  choice<Name extends string>(question: string, names: readonly Name[], fallback: Name): Promise<Name>
  /** Any of several, by numbers or names with commas or spaces between them; Enter alone is none. */
  several<Name extends string>(question: string, options: Readonly<Partial<Record<Name, string>>>): Promise<Name[]>
  confirm(question: string, fallback: boolean): Promise<boolean>
  close(): void
}

/** Ctrl+C or Ctrl+D in place of an answer. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

export function openPrompts(input: Readable, output: Writable & { isTTY?: boolean }): Prompts {
  const terminal = output.isTTY === true
  const reader = createInterface({ input, output, terminal })
  // Lines that come faster than questions, of a paste for one, are kept; Ctrl+C and Ctrl+D end the iteration.
  const lines = reader[Symbol.asyncIterator]()
  let isOpen = true
  reader.once('close', () => {
    isOpen = false
  })
  const ask = async (question: string): Promise<string> => {
    reader.setPrompt(question)
    // Left before this question: newer versions of Node.js throw.
    if (isOpen) reader.prompt()
    const { value, done } = await lines.next()
    if (done === true) throw new Cancelled('cancelled')
    return (value as string).trim()
  }
  const text: Prompts['text'] = async (question, fallback, check = () => undefined) => {
    const above = question.lastIndexOf('\n') + 1
    output.write(question.slice(0, above))
    for (;;) {
      const answer = (await ask(`${question.slice(above)} (${fallback}): `)) || fallback
      const wrong = check(answer)
      if (wrong === undefined) return answer
      output.write(`  ${wrong}\n`)
    }
  }
  return {
    text,
    async choice(question, names, fallback) {
      const shown = names.map((name, at) => `${at + 1} ${name}`).join('  ')
      const pick = (answer: string) =>
        names.find((name, at) => name === answer.toLowerCase() || String(at + 1) === answer)
      const answer = await text(`${question}\n  ${shown}\n  name or number`, fallback, (typed) =>
        pick(typed) === undefined ? `One of ${names.join(', ')}, or its number.` : undefined,
      )
      return pick(answer)!
    },
    async several<Name extends string>(question: string, options: Readonly<Partial<Record<Name, string>>>) {
      const names = Object.keys(options) as Name[]
      const shown = names.map((name, at) => `  ${at + 1} ${name.padEnd(8)} ${options[name]}`).join('\n')
      const words = (answer: string) =>
        answer
          .toLowerCase()
          .split(/[\s,]+/)
          .filter((word) => word !== '' && word !== 'none')
      const pick = (word: string) => names.find((name, at) => name === word || String(at + 1) === word)
      const answer = await text(`${question}\n${shown}\n  names or numbers`, 'none', (typed) =>
        words(typed).every((word) => pick(word) !== undefined)
          ? undefined
          : `Of ${names.join(', ')}, or their numbers.`,
      )
      return names.filter((name) => words(answer).some((word) => pick(word) === name))
    },
    async confirm(question, fallback) {
      const answer = await text(question, fallback ? 'yes' : 'no', (typed) =>
        /^(y|yes|n|no)$/i.test(typed) ? undefined : 'yes or no',
      )
      return /^y/i.test(answer)
    },
    close: () => reader.close(),
  }
}
