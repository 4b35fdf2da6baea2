import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectMistakes, mistakeFiles } from '../support/mistakes.ts'
import { buildIfMissing } from '../support/package/tarball.ts'
import { type Compilation, errorsByFile, runTsc } from '../support/typescript.ts'

const folder = 'test/types'
const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test-d.ts'))

// The packed declarations have no internal members: a type may be inferred from one of them. The step "types" of `npm test` compiles the
// same files with the sources.
describe('what must and must not compile with the packed declarations', () => {
  let compilation: Compilation
  beforeAll(() => {
    buildIfMissing()
    compilation = runTsc(['-p', `${folder}/packed`])
  })

  test.each(files)('%s', (file) => {
    expect(compilation.errors.get(`${folder}/${file}`) ?? []).toEqual([])
  })

  test('there are no other errors of the compiler', () => {
    const elsewhere = [...compilation.errors].filter(([file]) => !files.includes(basename(file)))
    expect(elsewhere.flatMap(([, errors]) => errors)).toEqual([])
    expect(compilation.ok || compilation.errors.size > 0, compilation.output).toBe(true)
  })
})

// On their own: what one of them declares would be in the messages about others.
describe('mistakes are reported where they are, by TypeScript 7', () => {
  let compilation: Compilation
  beforeAll(() => {
    buildIfMissing()
    compilation = runTsc(['-p', `${folder}/mistakes`])
  })

  test.each(mistakeFiles)('%s', (file) => {
    const reports = (compilation.errors.get(`${folder}/mistakes/${file}`) ?? []).map((error) => {
      const [, line, message] = /^[^:]+:(\d+):\d+ error TS\d+: ([\s\S]*)$/.exec(error)!
      return { line: Number(line), message: message! }
    })
    expectMistakes(file, reports)
  })

  test('and nothing else is', () => {
    const elsewhere = [...compilation.errors].filter(([file]) => !file.startsWith(`${folder}/mistakes/`))
    expect(elsewhere.flatMap(([, errors]) => errors)).toEqual([])
  })
})

test('the types of decorators apply under experimentalDecorators as well', () => {
  buildIfMissing()
  const { ok, errors, output } = runTsc(['-p', `${folder}/legacy`])
  expect([...errors.values()].flat()).toEqual([])
  expect(ok, output).toBe(true)
})

test('errors are sorted by file, continuation lines included', () => {
  const errors = errorsByFile(
    [
      `test/types/a.test-d.ts(3,7): error TS2344: Type 'false' does not satisfy the constraint 'true'.`,
      `  And why.`,
      `test/types/b.test-d.ts(1,1): error TS2578: Unused '@ts-expect-error' directive.`,
      `test/types/a.test-d.ts(9,1): error TS1005: ';' expected.`,
      `error TS5058: The specified path does not exist: 'x'.`,
      `Found 4 errors.`,
    ].join('\n'),
  )
  expect(Object.fromEntries(errors)).toEqual({
    'test/types/a.test-d.ts': [
      `test/types/a.test-d.ts:3:7 error TS2344: Type 'false' does not satisfy the constraint 'true'.\n  And why.`,
      `test/types/a.test-d.ts:9:1 error TS1005: ';' expected.`,
    ],
    'test/types/b.test-d.ts': [`test/types/b.test-d.ts:1:1 error TS2578: Unused '@ts-expect-error' directive.`],
    '': [`error TS5058: The specified path does not exist: 'x'.`],
  })
})
