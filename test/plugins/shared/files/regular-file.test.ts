import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRegularFile, readRegularFile, readRegularFileSync } from 'framework/kernel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePipe } from '../../../support/pipe.ts'

const folder = mkdtempSync(join(tmpdir(), 'framework-regular-'))
const at = (name: string) => join(folder, name)
const socket = createServer()

beforeAll(async () => {
  writeFileSync(at('file'), 'content')
  symlinkSync(at('file'), at('link'))
  mkdirSync(at('folder'))
  makePipe(at('pipe'))
  symlinkSync(at('pipe'), at('link-to-pipe'))
  await new Promise<void>((resolve) => socket.listen(at('socket'), resolve))
})
afterAll(() => {
  socket.close()
  rmSync(folder, { recursive: true, force: true })
})

test('files are read, also by a link', async () => {
  for (const name of ['file', 'link']) {
    expect(String(await readRegularFile(at(name)))).toBe('content')
    expect(String(readRegularFileSync(at(name)))).toBe('content')
  }
  const { handle, stat } = await openRegularFile(at('file'))
  expect(stat.size).toBe(7)
  await handle.close()
  expect(() => readRegularFileSync(at('file'), 6)).toThrow(expect.objectContaining({ code: 'EFBIG' }))
})

test.each([
  [at('pipe'), 'a named pipe'],
  [at('link-to-pipe'), 'a named pipe'],
  [at('socket'), 'a socket'],
  [at('folder'), 'a folder'],
  ['/dev/zero', 'a device'],
])('%s is refused as what it is', async (path, kind) => {
  const error = {
    code: 'IrregularFileError',
    kind,
    message: `${path} is ${kind}, not a file`,
  }
  await expect(readRegularFile(path)).rejects.toMatchObject(error)
  expect(() => readRegularFileSync(path)).toThrow(expect.objectContaining(error))
})

test('a missing file is an error of the system', async () => {
  await expect(readRegularFile(at('none'))).rejects.toMatchObject({ code: 'ENOENT' })
  expect(() => readRegularFileSync(at('none'))).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('as many pipes as there are threads for files hold up nothing', async () => {
  const tries = Array.from({ length: 16 }, () => readRegularFile(at('pipe')).catch(({ code }) => code as string))
  expect(await readFile(at('file'), 'utf8')).toBe('content')
  expect(new Set(await Promise.all(tries))).toEqual(new Set(['IrregularFileError']))
})
