import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { resultOf, type Target, targets } from './targets.ts'

/** One of each: versions and servers do not matter for files. */
export const runtimes = targets.filter(({ name }) => ['node', 'bun', 'deno'].includes(name))

/** Folders as the cases have them: `root/sub` is swapped for a link to `outside`. */
export interface Swapped {
  readonly root: string
  readonly outside: string
}

/** Makes the folders, and removes them after the test. */
export async function withFolders(use: (folders: Swapped) => Promise<void>): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'framework-swapped-')))
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  for (const folder of [outside, join(root, 'sub')]) mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(theirs)) writeFileSync(join(outside, name), text)
  writeFileSync(join(root, 'sub/a.txt'), 'mine')
  try {
    await use({ root, outside })
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

const theirs = { 'a.txt': 'secret', 'theirs.txt': 'theirs' }

/** Requests of every kind, of which none may come to see or to change what is outside. */
export async function staysInside(target: Target, { root, outside }: Swapped, own: readonly string[]): Promise<void> {
  const all = (await resultOf(target, 'swapped-folders.mjs', [root, ...own])) as {
    [name: string]: { mine: number; secret: number }
  }
  const { careless, ...seen } = all
  expect(careless!.secret, 'the folder is swapped in time to lead a careless program outside').toBeGreaterThan(0)
  expect(Object.keys(seen)).toEqual(['static', 'file', 'read', 'list', 'copy', 'write', 'remove'])
  for (const [name, { mine, secret }] of Object.entries(seen)) {
    expect(secret, `${name} outside`).toBe(0)
    expect(mine, `${name} inside`).toBeGreaterThan(0)
  }
  const left = readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')])
  expect(Object.fromEntries(left)).toEqual(theirs)
}
