import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wrong } from './support/words.ts'

/**
 * What people read of a line: all of a page, and in a module its comments and its texts of several words, without the values in them.
 * A template is read like the file that is made from it.
 */
function wordsOf(file: string, line: string): string {
  if (!/\.(ts|mjs)(\.mustache)?$/.test(file)) return line
  if (/^\s*(?:\*|\/\/|\/\*)/.test(line)) return line
  const comment = /(?<![:'"`])\s\/\/ .*$/.exec(line)?.[0] ?? ''
  const texts = line.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []
  const several = texts.map((text) => text.replace(/\$\{[^}]*\}/g, '…')).filter((text) => text.includes(' '))
  return [...several, comment].join('\n')
}

/** The user of the system that has no rights. */
const userName = new RegExp(`(['"\`])${['no', 'body'].join('')}\\1`, 'g')

const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.mjs', '*.mustache'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && file !== 'test/support/words.ts')

test('words that have to be translated while reading are not used', () => {
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        // Its table shows them.
        if (file === 'CONTRIBUTING.md' && line.startsWith('|')) return []
        const text = wordsOf(file, line).replace(userName, '')
        return wrong
          .filter(([pattern]) => pattern.test(text))
          .map(([, instead]) => `${file}:${i + 1}: write ${instead}: ${line.trim()}`)
      }),
  )
  expect(found).toEqual([])
})
