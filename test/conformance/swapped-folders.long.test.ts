import { spawn } from 'node:child_process'
import { test } from 'vitest'
import { runtimes, staysInside, withFolders } from './swapped-folders.ts'

/** A write that finds no folder makes one, which is removed again. */
const swap = `
  import { renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
  const [, root, outside] = process.argv
  process.chdir(root)
  console.log('ready')
  const tries = (work) => { try { work() } catch {} }
  const isBack = () => { try { renameSync('kept', 'sub'); return true } catch { return false } }
  const still = new Int32Array(new SharedArrayBuffer(4))
  for (let turn = 0; ; turn++) {
    // Now and then the folder stays for a moment: on a busy machine, requests would otherwise never find it.
    if (turn % 4 === 0) Atomics.wait(still, 0, 0, 2)
    renameSync('sub', 'kept')
    tries(() => symlinkSync(outside, 'sub'))
    tries(() => unlinkSync('sub'))
    while (!isBack()) tries(() => rmSync('sub', { recursive: true, force: true }))
  }`

test.each(runtimes)('a folder that another process swaps for a link leads no request outside: $name', (target) =>
  withFolders(async (folders) => {
    const { root, outside } = folders
    const child = spawn(process.execPath, ['--input-type=module', '-e', swap, root, outside])
    const exited = new Promise((resolve) => child.once('exit', resolve))
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve))
      await staysInside(target, folders, ['2500'])
    } finally {
      child.kill('SIGKILL')
      await exited
    }
  }))
