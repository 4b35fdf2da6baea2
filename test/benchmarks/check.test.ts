import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { suiteNames } from '../../benchmarks/settings.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Nothing is timed: a benchmark that fails on a busy machine would only be turned off. */
test('every benchmark still starts and every server in it gives the right answer', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'benchmarks/run.ts', '--check'], { cwd: root })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(
    output
      .split('\n')
      .filter((line) => line.startsWith('ok '))
      .sort(),
  ).toEqual(suiteNames.map((name) => `ok ${name}`).sort())
  expect(code, output).toBe(0)
})
