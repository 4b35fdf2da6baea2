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

/** Code that does more has more lines: this limit may rise with a capability, which the commit names in a line "Capability: …". */
const growing = 'lines of the product'
const maxGrowing = 66_000

/** A version of the file, and the message of its commit. */
interface Version {
  readonly limits: Limits
  readonly message: string
}

/** The limits that a commit raised without a right to, by the history of the file from the oldest version to the newest. */
function raised(versions: readonly Version[]): string[] {
  return versions.flatMap(({ limits, message }, i) => {
    const before = versions[i - 1]?.limits ?? limits
    return Object.entries(limits)
      .filter(([name, limit]) => limit > (before[name] ?? limit))
      .filter(([name, limit]) => name !== growing || limit > maxGrowing || !/^Capability: \S/m.test(message))
      .map(([name, limit]) => `${name}: from ${before[name]} to ${limit}`)
  })
}

test('a raised limit is found, unless the product has grown by a capability', () => {
  const of = (limits: Limits, message = '') => ({ limits, message })
  const capability = 'Queues\n\nCapability: operations'
  expect(raised([of({ a: 2, b: 2 }), of({ a: 1, b: 2 }), of({ a: 1, b: 3, c: 1 }, capability)])).toEqual([
    'b: from 2 to 3',
  ])
  const product = (lines: number) => ({ [growing]: lines })
  expect(raised([of(product(1)), of(product(2), capability)])).toEqual([])
  expect(raised([of(product(1)), of(product(2))])).toEqual([`${growing}: from 1 to 2`])
  expect(raised([of(product(1)), of(product(66_001), capability)])).toEqual([`${growing}: from 1 to 66001`])
})

// A tarball of the sources has no history.
test.runIf(existsSync(join(root, '.git')))('no commit has raised a limit', () => {
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', input, maxBuffer: 64 * 1024 ** 2 })
  // By time and not by branch: a merge has two parents, and the file of each.
  const log = git(['log', '--first-parent', '--reverse', '--format=%H%n%B%x00', '--', 'test/limits.json'])
  const commits = log.split('\0').flatMap((entry) => {
    const [, commit, message = ''] = /^(\w{40,})\n(.*)$/s.exec(entry.trimStart()) ?? []
    return commit === undefined ? [] : [{ commit, message }]
  })
  const separator = '-'.repeat(40)
  const asked = commits.map(({ commit }) => `${commit}:test/limits.json`).join('\n')
  const files = git(['cat-file', `--batch=${separator}`], asked)
    .split(`${separator}\n`)
    .slice(1)
  expect(files).toHaveLength(commits.length)
  const committed = commits.map(({ message }, i) => ({ limits: JSON.parse(files[i]!) as Limits, message }))
  expect(raised([...committed, { limits, message: '' }])).toEqual([])
})
