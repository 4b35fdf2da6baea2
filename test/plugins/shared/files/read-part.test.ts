import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPart } from '../../../../plugins/shared/files/regular-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'test-read-part-'))
const file = join(folder, 'a.txt')
writeFileSync(file, '0123456789')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a part of a file is read, and the file closed', async () => {
  const handle = await open(file)
  expect((await readPart(handle, 2, 5)).toString()).toBe('23456')
  expect(handle.fd).toBe(-1)
})

test('a file that has become shorter is an error, and closed as well', async () => {
  const handle = await open(file)
  await expect(readPart(handle, 8, 5)).rejects.toThrow('became shorter while it was read: 2 of 5 bytes')
  expect(handle.fd).toBe(-1)
})
