import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { chooseSuites } from '../../benchmarks/settings.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { root } from '../../benchmarks/support/stage.ts'
// The same on Bun and Deno, too.
import './check.test.ts'

/** Nothing is timed: a benchmark that fails on a busy machine would only be turned off. The peers need not be installed. */
test('npm run bench -- --check builds a stage, and starts each server of each suite in a process of its own', async () => {
  const command = ['--import', 'tsx', 'benchmarks/run.ts', '--check', '--servers', 'framework,raw,one process']
  const child = spawn(process.execPath, command, { cwd: root })
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
  ).toEqual(
    chooseSuites([], findRuntime('node'))
      .map((name) => `ok ${name}`)
      .sort(),
  )
  expect(code, output).toBe(0)
})
