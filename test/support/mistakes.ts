import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

const path = join(import.meta.dirname, '../types/mistakes')

/** Files with mistakes: each `//!` comment has the compiler's message for the line before it. */
export const mistakeFiles = readdirSync(path).filter((file) => file.endsWith('.ts'))

/** A report of a compiler, with the number of its line from 1. */
export interface Report {
  readonly line: number
  readonly message: string
}

/** Expects a compiler's reports about a file to be those that its comments have: TypeScript 5 says some in two sentences. */
export function expectMistakes(file: string, found: readonly Report[]): void {
  const wanted = readFileSync(join(path, file), 'utf8')
    .split('\n')
    .flatMap((text, line) => {
      const words = /^\s*\/\/! (.+)$/.exec(text)?.[1]
      return words === undefined ? [] : [{ line, words }]
    })
  expect(wanted.length).toBeGreaterThan(0)
  expect(found.map(({ line }) => line)).toEqual(wanted.map(({ line }) => line))
  for (const [i, { line, words }] of wanted.entries()) {
    const sentences = found[i]!.message.split('\n').slice(0, 2).join(' ')
    expect(`${file}:${line} ${sentences}`).toContain(words)
  }
}
