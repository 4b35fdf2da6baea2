import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { chooseSuites } from '../../benchmarks/settings.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { runtimeBinary } from '../runtimes/run.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))

async function check(...args: string[]): Promise<{ code: unknown; ok: string[]; output: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'benchmarks/run.ts', '--check', ...args], { cwd: root })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const code = await new Promise((resolve) => child.once('close', resolve))
  const ok = output
    .split('\n')
    .filter((line) => line.startsWith('ok '))
    .sort()
  return { code, ok, output }
}

/** Nothing is timed: a benchmark that fails on a busy machine would only be turned off. The peers are not a part of the framework. */
test('every benchmark still starts and every server of ours in it gives the right answer', async () => {
  const { code, ok, output } = await check('--servers', 'framework,raw')
  expect(ok).toEqual(
    chooseSuites([], findRuntime('node'))
      .map((name) => `ok ${name}`)
      .sort(),
  )
  expect(code, output).toBe(0)
})

test.each(['bun', 'deno'])('the servers of %s give the right answers, by hand and by the framework', async (name) => {
  if (runtimeBinary(name) === undefined) return
  const suites = ['100-routes', 'full-stack', 'serialised-get']
  const { code, ok, output } = await check('--runtime', name, '--servers', 'framework,native', ...suites)
  expect(ok).toEqual(suites.map((suite) => `ok ${suite}`))
  expect(code, output).toBe(0)
})
