import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resultOf, type Target } from './targets.ts'

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

const runtimes: readonly Target[] = [
  { name: 'node', runtime: 'node' },
  { name: 'bun', runtime: 'bun' },
  { name: 'deno', runtime: 'deno' },
]

test.each(runtimes)('a folder that is swapped for a link leads no request outside: $name', async (target) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'framework-swapped-')))
  const [root, outside] = [join(base, 'root'), join(base, 'outside')]
  const files = { 'a.txt': 'secret', 'theirs.txt': 'theirs' }
  for (const folder of [outside, join(root, 'sub')]) mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(outside, name), text)
  writeFileSync(join(root, 'sub/a.txt'), 'mine')
  const child = spawn(process.execPath, ['--input-type=module', '-e', swap, root, outside])
  const exited = new Promise((resolve) => child.once('exit', resolve))
  try {
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const seen = (await resultOf(target, 'swapped-folders.mjs', [
      JSON.stringify({ root, requests: 10_000 }),
    ])) as Record<string, { mine: number; secret: number }>
    expect(Object.keys(seen)).toEqual(['static', 'file', 'read', 'list', 'copy', 'write', 'remove'])
    for (const [name, { mine, secret }] of Object.entries(seen)) {
      expect(secret, `${name} outside`).toBe(0)
      expect(mine, `${name} inside`).toBeGreaterThan(0)
    }
    expect(
      Object.fromEntries(readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')])),
    ).toEqual(files)
  } finally {
    child.kill('SIGKILL')
    await exited
    rmSync(base, { recursive: true, force: true })
  }
})
