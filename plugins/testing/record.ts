import { AssertionError } from 'node:assert'
import { checkOptions } from '../../kernel/index.ts'
import { matches } from '../shared/values/subset.ts'

/** A part of an item: a string may be a regular expression, and a list may be one of its items. */
export type RecordMatch<Item> = {
  readonly [Name in keyof Item]?:
    | Item[Name]
    | RegExp
    | (Item[Name] extends readonly (infer One)[] ? One | RegExp : never)
}

/**
 * What a server under test has sent, stored or opened, the oldest first. Assertions throw Node's `AssertionError`, which shows all items, and
 * return the record, so that they can be chained.
 *
 * @example
 * declare const jobs: TestRecord<{ queue: string }>
 * jobs.assertCount(1).assertSome({ queue: 'receipts' })
 */
export class TestRecord<Item extends object> {
  readonly #what: string
  readonly #members: readonly string[]
  readonly #items: () => readonly Item[]
  #cleared: ReadonlySet<Item> = new Set()

  /** @internal */
  constructor(what: string, members: readonly (keyof Item & string)[], items: () => readonly Item[]) {
    this.#what = what
    this.#members = members
    this.#items = items
  }

  /** All of them, since the start or the last `clear`. */
  get all(): readonly Item[] {
    return this.#items().filter((one) => !this.#cleared.has(one))
  }

  /** Leaves out the items so far. */
  clear(): this {
    this.#cleared = new Set(this.#items())
    return this
  }

  /** Checks how many there are. @throws AssertionError */
  assertCount(count: number): this {
    const { length } = this.all
    if (length === count) return this
    return this.#fail(`expected ${count} ${this.#what}, got ${length}`, count)
  }

  /**
   * Checks that one of them has these members.
   *
   * @throws AssertionError; OptionError for a member that none can have.
   */
  assertSome(expected: RecordMatch<Item>): this {
    if (this.#find(expected, 'assertSome')) return this
    return this.#fail(`expected one of the ${this.#what} to have these members`, expected)
  }

  /**
   * Checks that none of them has these members; without an argument, that there is none.
   *
   * @throws AssertionError; OptionError for a member that none can have.
   */
  assertNone(expected: RecordMatch<Item> = {}): this {
    if (!this.#find(expected, 'assertNone')) return this
    return this.#fail(`expected none of the ${this.#what} to have these members`, expected)
  }

  #find(expected: RecordMatch<Item>, call: string): boolean {
    // One that is misspelt would match none.
    checkOptions(call, expected, this.#members)
    return this.all.some((item) => matches(item, expected))
  }

  #fail(message: string, expected: unknown): never {
    throw new AssertionError({ message, actual: this.all, expected, operator: 'record' })
  }
}
