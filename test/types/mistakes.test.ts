import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { toolScript } from '../runtimes/run.mjs'
import { buildIfMissing } from '../support/package/tarball.ts'
import { type Compilation, runTsc } from '../support/typescript.ts'

const folder = 'test/types/mistakes'
const files = readdirSync(join(import.meta.dirname, 'mistakes')).filter((file) => file.endsWith('.ts'))

/** The mistakes of a file: each `//!` comment has the compiler's message for the line before it. */
function expected(file: string): { line: number; words: string }[] {
  const lines = readFileSync(join(import.meta.dirname, 'mistakes', file), 'utf8').split('\n')
  return lines.flatMap((line, i) => {
    const words = /^\s*\/\/! (.+)$/.exec(line)?.[1]
    return words === undefined ? [] : [{ line: i, words }]
  })
}

/** A report of the compiler: its line and its words, those of TypeScript 5 in two sentences where the later one has one. */
const reported = (error: string) => {
  const [, line, message] = /^[^:]+:(\d+):\d+ error TS\d+: ([\s\S]*)$/.exec(error)!
  return { line: Number(line), message: message!.split('\n').slice(0, 2).join(' ') }
}

beforeAll(() => buildIfMissing())

describe.each([
  ['TypeScript 7', undefined],
  ['TypeScript 5.9', toolScript('typescript5')],
])('mistakes are reported where they are, by %s', (_name, compiler) => {
  let compilation: Compilation

  beforeAll(() => {
    compilation = runTsc(['-p', folder], undefined, compiler)
  }, 60_000)

  test.each(files)('%s', (file) => {
    const found = (compilation.errors.get(`${folder}/${file}`) ?? []).map(reported)
    const wanted = expected(file)
    expect(found.map(({ line }) => line)).toEqual(wanted.map(({ line }) => line))
    for (const [i, { line, words }] of wanted.entries()) expect(`${file}:${line} ${found[i]!.message}`).toContain(words)
  })

  test('and nothing else is', () => {
    const elsewhere = [...compilation.errors].filter(([file]) => !file.startsWith(folder))
    expect(elsewhere.flatMap(([, errors]) => errors)).toEqual([])
  })
})
