import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { runMicro } from '../../benchmarks/micro/measure.ts'
import { chooseSuites, isMicro } from '../../benchmarks/settings.ts'
import { findRuntime } from '../../benchmarks/support/runtime.ts'
import { adoptFolder, removeStages, root } from '../../benchmarks/support/stage.ts'
import { withFiles } from '../../build-files.mjs'

afterAll(removeStages)

const node = findRuntime('node')
const inProcess = adoptFolder(root, 'dist')

/** Nothing is timed: a benchmark that fails on a busy machine would only be turned off. check.long.test.ts has those with servers. */
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
  const series = await runMicro(names, inProcess, { rounds: 1, check: true, servers: ['framework', 'raw'] }, node)
  expect([names.length > 10, series.length > names.length]).toEqual([true, true])
})
