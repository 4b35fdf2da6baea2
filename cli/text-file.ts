import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readRegularFileSync } from '../plugins/shared/files/read-file.ts'
import { safely } from '../plugins/shared/values/safely.ts'
import { CommandFailure } from './failure.ts'

/** The text of a file; `undefined` if it does not exist. @throws CommandFailure, which names the file, if it cannot be read. */
export function textOf(file: string): string | undefined {
  try {
    return readRegularFileSync(file).toString('utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new CommandFailure(`${file} cannot be read: ${(error as Error).message}`, error)
  }
}

/** Writes a file next to its place and then renames it, so that half of it is never read; its folder may be missing. */
export function replaceText(file: string, text: string): void {
  const half = `${file}.${process.pid}.tmp`
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(half, text)
    renameSync(half, file)
  } catch (error) {
    safely(() => rmSync(half, { force: true }))
    throw error
  }
}
