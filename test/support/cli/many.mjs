// Runs commands one after the other in one process: `{ folder, argv }` on each line that comes, what became of it on each
// that goes.
import { createInterface } from 'node:readline'
import { main } from '../../../cli/main.ts'
import { Sink } from './sink.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const { folder, argv, env } = JSON.parse(line)
  process.chdir(folder)
  const [stdout, stderr] = [new Sink(), new Sink()]
  const code = await main(argv, { stdout, stderr, env: env ?? {} })
  process.stdout.write(`${JSON.stringify({ code, stdout: stdout.text, stderr: stderr.text })}\n`)
}
