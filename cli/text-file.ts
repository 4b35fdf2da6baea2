import {
  closeSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
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

/** A text with more lines at its end, which end as its own do. */
export function withLines(text: string, lines: readonly string[]): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = lines.length === 0 || text === '' || /[\n\uFEFF]$/.test(text) ? '' : end
  return text + gap + lines.map((line) => line + end).join('')
}

/** Writes a new file, with its mode from the first moment, so that no one can read a secret before the mode is set. */
export function writeNew(
  file: string,
  text: string | Uint8Array,
  mode: number | undefined,
  opened: (descriptor: number) => void,
): void {
  const descriptor = openSync(file, 'wx', mode)
  try {
    opened(descriptor)
    // The umask has removed bits from the mode.
    if (mode !== undefined) fchmodSync(descriptor, mode & 0o777)
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Replaces a file atomically: no one reads half of it, or a secret with the previous permissions. If the file is missing, it is created,
 * with its folder.
 */
export function replaceFile(file: string, text: string | Uint8Array, mode?: number): void {
  const before = statSync(file, { throwIfNoEntry: false })
  if (before === undefined) mkdirSync(dirname(file), { recursive: true })
  const half = `${file}.${process.pid}-${Date.now()}.tmp`
  try {
    writeNew(half, text, mode ?? before?.mode, (descriptor) => {
      // Root keeps the owner of the file.
      if (before !== undefined && process.getuid?.() === 0) fchownSync(descriptor, before.uid, before.gid)
    })
    renameSync(half, file)
  } catch (error) {
    safely(() => rmSync(half, { force: true }))
    throw error
  }
}
