import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findFiles, importFiles } from '../../../../plugins/shared/files/modules.ts'
import { makePipe } from '../../../support/pipe.ts'

let root: string
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'framework-globs-')))
  const files = ['app [1] (a)/src/b.ts', 'app [1] (a)/src/a.ts', 'app [1] (a)/src/a.d.ts', 'app [1] (a)/src/.old/c.ts']
  const tests = ['app [1] (a)/src/a.test.ts', 'app [1] (a)/src/b.spec.mts', 'out/d.test.mjs']
  for (const file of [...files, ...tests, 'out/d.mjs', 'out/node_modules/e/e.ts', 'node_modules/app/src/f.ts']) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), '')
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function find(patterns: string[], folder = 'app [1] (a)') {
  const { files, unmatched } = await findFiles(patterns, join(root, folder))
  return { files: files.map((file) => file.slice(root.length + 1)), unmatched }
}
const both = ['app [1] (a)/src/a.ts', 'app [1] (a)/src/b.ts']

test('relative to the folder, whatever characters its name has; sorted, each once; no declarations, no tests, nothing hidden', async () => {
  expect(await find(['src/b.ts', 'src/**/*.ts', './src/*.ts'])).toEqual({ files: both, unmatched: [] })
  expect(await find(['../out/*.mjs'])).toEqual({ files: ['out/d.mjs'], unmatched: [] })
})

test('a folder is not a pattern for its files', async () => {
  expect(await find(['src'])).toEqual({ files: [], unmatched: ['src'] })
})

test('exclusions apply to absolute patterns and outside of the folder', async () => {
  const all = ['src/*.ts', '../out/**/*.{ts,mjs}']
  expect((await find([...all, '!src/a.ts', '!../out/**'])).files).toEqual(['app [1] (a)/src/b.ts'])
  expect((await find([...all, '!**/a.ts', '!**/out/**'])).files).toEqual(['app [1] (a)/src/b.ts'])
})

test('packages are left out unless the pattern, or the folder, names them', async () => {
  expect((await find(['../out/**/*.ts'])).files).toEqual([])
  expect((await find(['../out/node_modules/e/*.ts'])).files).toEqual(['out/node_modules/e/e.ts'])
  expect((await find(['src/*.ts'], 'node_modules/app')).files).toEqual(['node_modules/app/src/f.ts'])
})

test('every pattern that matches nothing is named', async () => {
  expect(await find(['no/*.ts', 'src/a.ts', 'src/*.mts'])).toEqual({
    files: ['app [1] (a)/src/a.ts'],
    unmatched: ['no/*.ts', 'src/*.mts'],
  })
})

test('a link that leads to a named pipe is not a module, and no import waits for it', async () => {
  mkdirSync(join(root, 'pipes'))
  symlinkSync(makePipe(join(root, 'pipes/pipe')), join(root, 'pipes/link.ts'))
  const failure = (file: string, why: string) => new Error(`${file}: ${why}`)
  const loading = importFiles([join(root, 'pipes/*.ts')], { unmatched: () => {}, take: () => {}, failure })
  await expect(loading).rejects.toThrow(/link\.ts: it is a named pipe/)
})
