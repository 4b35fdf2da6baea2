import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wrong, wrongForUsers } from './support/words.ts'

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
