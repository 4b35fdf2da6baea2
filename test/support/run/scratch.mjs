import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const inMemory = '/dev/shm'
/** Four times what the files of a whole run take at once. */
const enough = 4 * 1024 ** 3

/**
 * A folder that is removed when the run ends, also for the temporary files of tests: in memory, if the machine has enough. On a disk, creating, copying
 * and removing them took a tenth of the system's processor time.
 */
export function makeScratch() {
  const scratch = makeFolder(inMemory) ?? mkdtempSync(join(tmpdir(), 'framework-test-'))
  // Servers of databases run as users of their own.
  chmodSync(scratch, 0o755)
  return scratch
}

/** @param {string} parent */
function makeFolder(parent) {
  if (!existsSync(parent) || process.availableMemory() < 2 * enough) return undefined
  const { bavail, bsize } = statfsSync(parent)
  if (bavail * bsize < enough) return undefined
  const folder = mkdtempSync(join(parent, 'framework-test-'))
  // Containers often mount it without the right to run programs, which tests write.
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  if (spawnSync(program).status === 0) return folder
  rmSync(folder, { recursive: true })
  return undefined
}
