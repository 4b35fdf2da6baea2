import { spawn } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import { checkServers } from '../../benchmarks/load/schedule.ts'
import { isPeer } from '../../benchmarks/load/servers.ts'
import { type ServerSuite, serverSuites } from '../../benchmarks/load/suites.ts'
import { chooseSuites } from '../../benchmarks/settings.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { adoptFolder, removeStages, root } from '../../benchmarks/support/stage.ts'
import { runtimeBinary } from '../runtimes/run.mjs'
import { askAll } from '../support/benchmarks/servers.ts'

afterAll(removeStages)

const stage = adoptFolder(root, 'dist')

// Nothing is timed: a benchmark that fails on a busy machine would only be turned off. The peers need not be installed.

describe.each(['bun', 'deno'])('on %s', (name) => {
  test.skipIf(runtimeBinary(name) === undefined)(
    'the framework and the servers by hand give the right responses',
    async () => {
      const runtime = findRuntime(name)
      const questions = (['100-routes', 'full-stack', 'serialised-get'] as const).flatMap((suite) => {
        const { exchange, servers: serversOf }: ServerSuite = serverSuites[suite]
        return Object.entries(serversOf(runtime.kind))
          .filter(([, file]) => !isPeer(file))
          .map(([server, file]) => ({ server, file, exchange }))
      })
      const logging = questions.filter(({ exchange }) => exchange.logged.length > 0)
      expect(logging.length).toBeGreaterThan(1)
      const subjects = logging.map(({ server, file }) => ({ name: server, stage, ...file }))
      await checkServers(subjects, logging[0]!.exchange, runtime)
      await askAll(
        questions.filter((one) => !logging.includes(one)),
        stage,
        runtime,
      )
    },
  )
})

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
