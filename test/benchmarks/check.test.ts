import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, describe, expect, test } from 'vitest'
import { checkServers } from '../../benchmarks/load/schedule.ts'
import { exchangeOf, isPeer } from '../../benchmarks/load/servers.ts'
import { checkSockets } from '../../benchmarks/load/sockets.ts'
import { type ServerSuite, serverSuites } from '../../benchmarks/load/suites.ts'
import { runMicro } from '../../benchmarks/micro/measure.ts'
import { chooseSuites, isMicro, type ServerName } from '../../benchmarks/settings.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { adoptFolder, removeStages, root } from '../../benchmarks/support/stage.ts'
import { isWanted } from '../../benchmarks/support/wanted.ts'
import { withFiles } from '../../build-files.mjs'
import { runtimeBinary } from '../runtimes/run.mjs'
import { askAll } from '../support/benchmarks/servers.ts'
import { isLong } from '../support/long.ts'

afterAll(removeStages)

const node = findRuntime('node')
const stage = adoptFolder(root, 'dist')
const inProcess = adoptFolder(root, 'dist')

/** Nothing is timed: a benchmark that fails on a busy machine would only be turned off. The peers need not be installed. */
const servers = ['framework', 'raw']

test('every benchmark in process still runs', async () => {
  // The modules that they load beside the framework; a build that keeps them takes as long as all of this.
  const modules = ['kernel/routing/table', 'kernel/routing/collection', 'kernel/pipeline/chain']
  const others = ['kernel/http/response/response-buffer', 'plugins/responses/service', 'index']
  await build({
    entryPoints: [...modules, ...others].map((module) => join(root, `${module}.ts`)),
    outbase: root,
    outdir: join(inProcess.folder, 'dist'),
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    plugins: [
      {
        name: 'files beside modules',
        setup({ onLoad }) {
          onLoad({ filter: /\/plugins\/.*\.ts$/ }, ({ path }) => ({
            contents: withFiles(readFileSync(path, 'utf8'), path),
            loader: 'ts',
          }))
        },
      },
    ],
  })
  const names = chooseSuites([], node).filter(isMicro)
  const series = await runMicro(names, inProcess, { rounds: 1, check: true, servers }, node)
  expect([names.length > 10, series.length > names.length]).toEqual([true, true])
})

test('every server of every suite but the peers gives the right response', async () => {
  const names = chooseSuites([], node).filter((name): name is ServerName => !isMicro(name))
  const all = names.map((suite) => {
    const { kind, exchange, servers: serversOf }: ServerSuite = serverSuites[suite]
    const files = Object.entries(serversOf('node')).filter(([name, file]) => isWanted(name, servers) && !isPeer(file))
    const subjects = files.map(([name, file]) => ({ name, stage, ...file }))
    return { suite, kind, exchange, subjects }
  })
  // A log, and sockets, are looked at from the outside of a process.
  const logging = all.filter(({ exchange }) => exchange.logged.length > 0)
  const sockets = all.filter(({ kind }) => kind === 'sockets')
  const others = all.filter((one) => !logging.includes(one) && !sockets.includes(one))
  expect([logging.length, sockets.length, others.length > 15]).toEqual([1, 1, true])
  for (const { subjects, exchange } of logging) await checkServers(subjects, exchange, node)
  for (const { subjects, exchange } of sockets) await checkSockets(subjects, exchange, node)
  const questions = others.flatMap(({ subjects, exchange }) =>
    subjects.map(({ name, ...file }) => ({ server: name, file, exchange: exchangeOf(file, exchange) })),
  )
  await askAll(questions, stage, node)
})

// In check.long.test.ts.
if (isLong)
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
