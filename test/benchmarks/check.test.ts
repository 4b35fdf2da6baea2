import { spawn } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import { checkServers } from '../../benchmarks/load/schedule.ts'
import { httpServers, isPeer } from '../../benchmarks/load/servers.ts'
import { serverSuites } from '../../benchmarks/load/suites.ts'
import { chooseSuites } from '../../benchmarks/settings.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { adoptFolder, removeStages, root } from '../../benchmarks/support/stage.ts'
import { runtimeBinary } from '../runtimes/run.mjs'

afterAll(removeStages)

/** Nothing is timed: a benchmark that fails on a busy machine would only be turned off. The peers need not be installed. */
test('every benchmark still starts and every server in it but the peers gives the right answer', async () => {
  const command = ['--import', 'tsx', 'benchmarks/run.ts', '--check', '--servers', 'framework,raw']
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

describe.each(['bun', 'deno'])('on %s', (name) => {
  test.skipIf(runtimeBinary(name) === undefined)(
    'the framework and the servers by hand give the right answers',
    async () => {
      const runtime = findRuntime(name)
      const stage = adoptFolder(root, 'dist')
      for (const [suite, scenario] of [
        ['100-routes', 'many'],
        ['full-stack', 'full'],
        ['serialised-get', 'serialised'],
      ] as const) {
        const subjects = Object.entries(httpServers(runtime.kind, scenario)).filter(([, file]) => !isPeer(file))
        await checkServers(
          subjects.map(([server, file]) => ({ name: server, stage, ...file })),
          serverSuites[suite].exchange,
          runtime,
        )
      }
    },
  )
})
