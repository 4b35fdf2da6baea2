import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openInside, realRoot } from 'framework/kernel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePipe } from '../../../support/pipe.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'framework-inside-')))
const root = join(base, 'root')

beforeAll(() => {
  for (const folder of ['root/folder', 'root-beside']) mkdirSync(join(base, folder), { recursive: true })
  for (const file of ['outside', 'root-beside/file', 'root/file', 'root/folder/file', 'root/a (deleted)'])
    writeFileSync(join(base, file), file)
  symlinkSync('file', join(root, 'link'))
  symlinkSync('folder', join(root, 'linked-folder'))
  symlinkSync('../outside', join(root, 'link-out'))
  symlinkSync('../root-beside', join(root, 'folder-out'))
  symlinkSync('/dev/zero', join(root, 'device'))
  symlinkSync('nowhere', join(root, 'dangling'))
  symlinkSync(root, join(base, 'linked-root'))
  makePipe(join(root, 'pipe'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

const opened = async (path: string, accepts?: (real: string) => boolean) => {
  const found = await openInside(await realRoot(join(base, 'linked-root')), join(root, path), accepts)
  await found?.handle.close()
  return found?.path
}

test.each([
  ['file', 'file'],
  ['folder/file', 'folder/file'],
  ['link', 'file'],
  ['linked-folder/file', 'folder/file'],
  ['a (deleted)', 'a (deleted)'],
  ['folder', 'folder'],
  ['pipe', 'pipe'],
  ['.', '.'],
])('%s is opened, with its real path', async (path, real) => {
  expect(await opened(path)).toBe(join(root, real))
})

test.each([
  'link-out',
  'folder-out/file',
  'device',
  '..',
  '../outside',
  '../root-beside/file',
])('%s leads out of the root', async (path) => {
  expect(await opened(path)).toBeUndefined()
  expect((await openInside(undefined, join(root, path)))?.handle.close()).toBeInstanceOf(Promise)
})

test('the caller judges the real path, and a missing file is the error of the system', async () => {
  expect(await opened('link', (real) => real.endsWith('/link'))).toBeUndefined()
  expect(await opened('link', (real) => real.endsWith('/file'))).toBe(join(root, 'file'))
  await expect(opened('nowhere')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(opened('dangling')).rejects.toMatchObject({ code: 'ELOOP' })
  await expect(realRoot(join(base, 'nowhere'))).rejects.toMatchObject({ code: 'ENOENT' })
})
