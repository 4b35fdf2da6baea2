import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const nouns =
  'address|answer|boolean|callback|contract|controller|error|failure|file|folder|function|header|HTTP|JSON|list|method|name|number|object|option|pattern|plugin|promise|response|route|schema|status|string|success|template|text|type|value'

/** What the page of words says in CONTRIBUTING.md, as far as a pattern can find it. */
const wrong: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:no|some|every|any)body\b/i, 'no one, someone, everyone, anyone, or who it is'],
  [new RegExp(`(?<!there )\\b(?:is|are) no (?:${nouns})s?\\b(?! (?:one|longer))`, 'i'), 'is not a …'],
]

const files = execFileSync('git', ['ls-files', '*.md', 'kernel/*.ts', 'plugins/*.ts', 'cli/*.ts', '*.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !/^(?:test|benchmarks)\/|^CHANGELOG\.md$|^docs\/examples\//.test(file))

test('words that have to be translated while reading are not used', () => {
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        // Its table shows them; and a user may be called nobody.
        if (file === 'CONTRIBUTING.md' && line.startsWith('|')) return []
        const text = line.replace(/(['"`])nobody\1/g, '')
        return wrong
          .filter(([pattern]) => pattern.test(text))
          .map(([, instead]) => `${file}:${i + 1}: write ${instead}: ${line.trim()}`)
      }),
  )
  expect(found).toEqual([])
})
