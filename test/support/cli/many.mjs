// Runs commands one after the other in one process: `{ folder, argv }` on each line that comes, what became of it on each
// that goes.
import { createInterface } from 'node:readline'
import { main } from '../../../cli/main.ts'
import { asLine, Sink } from './lines.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const { folder, argv, env } = JSON.parse(line)
  process.chdir(folder)
  const [stdout, stderr] = [new Sink(), new Sink()]
  const code = await main(argv, { stdout, stderr, env: env ?? {} })
  process.stdout.write(asLine({ code, stdout: stdout.text, stderr: stderr.text }))
}
