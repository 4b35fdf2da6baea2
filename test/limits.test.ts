import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readProject } from './support/architecture/project.ts'
import { sizesOf } from './support/architecture/size.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
type Limits = Readonly<Record<string, number>>
const limits = JSON.parse(readFileSync(join(root, 'test/limits.json'), 'utf8')) as Limits
const sizes = sizesOf(readProject(root))

test('every size has a limit', () => {
  expect(Object.keys(limits)).toEqual(Object.keys(sizes))
})

test.each(Object.entries(sizes))('%s', (name, [size, where]) => {
  expect(size, where).toBeLessThanOrEqual(limits[name]!)
})

/** The limits that a commit raised, by the history of the file from the oldest version to the newest. */
function raised(versions: readonly Limits[]): string[] {
  return versions.flatMap((limits, i) =>
    Object.entries(limits)
      .filter(([name, limit]) => limit > (versions[i - 1]?.[name] ?? limit))
      .map(([name, limit]) => `${name}: from ${versions[i - 1]![name]} to ${limit}`),
  )
}

test('a raised limit is found', () => {
  expect(
    raised([
      { a: 2, b: 2 },
      { a: 1, b: 2 },
      { a: 1, b: 3, c: 1 },
    ]),
  ).toEqual(['b: from 2 to 3'])
})

// A tarball of the sources has no history.
test.runIf(existsSync(join(root, '.git')))('no commit has raised a limit', () => {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  const commits = git('log', '--reverse', '--format=%H', '--', 'test/limits.json').split('\n').filter(Boolean)
  const committed = commits.map((commit) => JSON.parse(git('show', `${commit}:test/limits.json`)) as Limits)
  expect(raised([...committed, limits])).toEqual([])
})
