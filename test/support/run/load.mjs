// `node test/support/run/load.mjs [cores]`: keeps so many cores busy, one by default, until a signal ends it. A suite that passes
// beside it waits for events, and not for guessed times.
import { isMainThread, Worker } from 'node:worker_threads'

if (isMainThread) {
  for (let core = 0; core < Number(process.argv[2] ?? 1); core++) new Worker(new URL(import.meta.url))
  console.log(`busy until a signal ends it: kill ${process.pid}`)
} else for (;;);
