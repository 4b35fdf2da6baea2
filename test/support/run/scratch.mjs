import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const inMemory = '/dev/shm'
const prefix = 'framework-test-'
/** Four times what the files of a whole run take at once. */
const enough = 4 * 1024 ** 3

/**
 * A folder that is removed when the run ends, also for the temporary files of tests: in memory, if the machine has enough. On a disk, creating, copying
 * and removing them took a tenth of the system's processor time.
 */
export function makeScratch() {
  const scratch = makeFolder(inMemory) ?? mkdtempSync(join(tmpdir(), prefix))
  // Servers of databases run as users of their own.
  chmodSync(scratch, 0o755)
  return scratch
}

/** @param {string} parent */
function makeFolder(parent) {
  if (!existsSync(parent) || process.availableMemory() < 2 * enough) return undefined
  const { bavail, bsize } = statfsSync(parent)
  if (bavail * bsize < enough) return undefined
  removeAbandoned(parent)
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  // Containers often mount it without the right to run programs, which tests write.
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  if (spawnSync(program).status === 0) return folder
  rmSync(folder, { recursive: true })
  return undefined
}

/** A run that was killed removes nothing, and takes memory. @param {string} parent */
function removeAbandoned(parent) {
  for (const name of readdirSync(parent).filter((one) => one.startsWith(prefix))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10)
    if (pid > 0 && !existsSync(`/proc/${pid}`)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}
