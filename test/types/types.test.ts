import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildIfMissing } from '../support/package/tarball.ts'
import { type Compilation, errorsByFile, runTsc } from '../support/typescript.ts'

const folder = 'test/types'
const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test-d.ts'))

// The packed declarations have no internal members: a type may be inferred from one of them.
describe.each([
  ['the sources', folder],
  ['the packed declarations', `${folder}/packed`],
])('what must and must not compile with %s', (_what, project) => {
  let compilation: Compilation

  beforeAll(() => {
    buildIfMissing()
    compilation = runTsc(['-p', project])
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
