import { STATUS_CODES } from 'node:http'
import { claim, pascal } from './names.ts'

/**
 * The types of failures that several operations have in common, above all the framework's own: they are declared once, named after
 * their status, instead of in ten lines at each operation.
 */
export class SharedFailures {
  readonly #counts = new Map<string, number>()
  readonly #names = new Map<string, string>()
  readonly #taken: Set<string>

  constructor(taken: Set<string>) {
    this.#taken = taken
  }

  /** Counts a failure; must be called with all of them before the first name is read. */
  count(status: string, type: string): void {
    if (!isWorthAName(status, type)) return
    const key = `${status} ${type}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  /** The name of a failure; `undefined` for one that is inlined. */
  nameOf(status: string, type: string): string | undefined {
    const key = `${status} ${type}`
    if ((this.#counts.get(key) ?? 0) < 2) return undefined
    const name = this.#names.get(key) ?? claim(pascal(STATUS_CODES[status] ?? `Status ${status}`), this.#taken)
    this.#names.set(key, name)
    return name
  }

  declarations(): string {
    return [...this.#names]
      .sort(([, a], [, b]) => (a < b ? -1 : 1))
      .map(([key, name]) => `export type ${name} = ${key.slice(key.indexOf(' ') + 1)}\n`)
      .join('\n')
  }
}

const isWorthAName = (status: string, type: string) => /^[45]/.test(status) && type.startsWith('{\n')
