import assert from 'node:assert/strict'
import { isSubset } from '../../plugins/shared/values/subset.ts'

/**
 * What declares a test: `test` of vitest, of `node:test` or of `bun:test`, or `Deno.test`.
 *
 * @example
 * const concurrently: DeclareTest = (name, run) => test.concurrent(name, run)
 */
export type DeclareTest = (name: string, run: () => Promise<void>) => unknown

/** What every contract takes. */
export interface ContractOptions {
  /** Declares each test of the contract, under a name that begins with what is tested. */
  readonly test: DeclareTest
}

/** The subject of a test, or a promise of it; called once for each test. */
export type Make<Subject> = () => Subject | Promise<Subject>

/** Declares tests that each have a subject of their own, which is closed at the end as a server closes it. */
export function contractOf<Subject extends object>(
  what: string,
  make: Make<Subject>,
  { test }: ContractOptions,
): (name: string, run: (subject: Subject) => Promise<void>) => void {
  return (name, run) =>
    void test(`${what}: ${name}`, async () => {
      const subject = await make()
      try {
        await run(subject)
      } finally {
        await (subject as { close?(): unknown }).close?.()
      }
    })
}

/** Asserts that a value has these members, and may have others. */
export function assertSubset(actual: unknown, expected: unknown): void {
  if (!isSubset(actual, expected)) assert.deepEqual(actual, expected)
}

/** Repeats assertions until they hold. */
export async function eventually(check: () => void, ms = 30_000): Promise<void> {
  for (const end = performance.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    try {
      return check()
    } catch (error) {
      if (performance.now() > end) throw error
    }
  }
}

let serial = 0
/** A name that no other test has, in any process. */
export const uniqueName = (what: string): string =>
  `${what}-${++serial}-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`
