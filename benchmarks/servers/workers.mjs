import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'

// How the workers are started: "hello process 1", "work start 2" through the command line, "work cluster 2" by hand.
const [scenario, how, count] = (process.argv[2] ?? '').split(' ')
const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))
process.env.BENCH_SCENARIO = scenario

if (how === 'process') await import('./worker.mjs')
else if (how === 'start') {
  process.argv.splice(2, process.argv.length, 'start', '--entry', 'servers/worker.mjs', '--workers', String(count))
  await import('../dist/cli/index.js')
} else {
  cluster.setupPrimary({ exec: worker })
  for (let i = 0; i < Number(count); i++) cluster.fork()
}
