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

/** The same, for what users read: pages and messages. Comments may still have them. */
const wrongForUsers: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bwhoever\b/i, 'a client that …, callers that …'],
  [/\btold\b(?! apart)|\btells? of\b/i, 'says, reports, lists; receives, is called with'],
  [/\bin front\b/i, 'before'],
  // A server stands behind a proxy, and a clock may be behind.
  [/\bbehind\b(?! (?:an?|the) (?:\w+ )?prox|(?: that of)|;|$)/i, 'after'],
  [/(?<!there )\b(?:is|are) none\b/i, 'is not a …; takes a …, not …'],
]

/** The part of a line that users read: all of a page, and in a module its texts of several words, without the values in them. */
function readByUsers(file: string, line: string): string {
  // Its words are still to be replaced.
  if (file === 'docs/plugins/inspector.md') return ''
  if (file.endsWith('.md')) return line
  if (/^\s*(?:\*|\/\/|\/\*)/.test(line)) return ''
  const texts = line.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []
  return texts
    .map((text) => text.replace(/\$\{[^}]*\}/g, '…'))
    .filter((text) => text.includes(' '))
    .join('\n')
}

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
        const forUsers = readByUsers(file, line)
        return [
          ...wrong.filter(([pattern]) => pattern.test(text)),
          ...wrongForUsers.filter(([pattern]) => pattern.test(forUsers)),
        ].map(([, instead]) => `${file}:${i + 1}: write ${instead}: ${line.trim()}`)
      }),
  )
  expect(found).toEqual([])
})
