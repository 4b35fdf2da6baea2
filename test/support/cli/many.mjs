// Runs commands one after the other in one process: `{ folder, argv }` on each line that comes, what became of it on each
// that goes.
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { main } from '../../../cli/main.ts'

for await (const line of createInterface({ input: process.stdin })) {
  const { folder, argv, env } = JSON.parse(line)
  process.chdir(folder)
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await main(argv, { stdout, stderr, env: env ?? {} })
  const text = (/** @type {PassThrough} */ stream) => String(stream.read() ?? '')
  process.stdout.write(`${JSON.stringify({ code, stdout: text(stdout), stderr: text(stderr) })}\n`)
}
