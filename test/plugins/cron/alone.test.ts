import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Runs a script that starts a job of every second, to its end: its exit code and the lines that it prints. */
async function script(what: string): Promise<{ code: number | null; lines: string[] }> {
  const file = join(import.meta.dirname, '../fixtures/cron-alone.mjs')
  const child = spawn(process.execPath, [file, what], {
    cwd: join(import.meta.dirname, '../../..'),
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data
    })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, lines: output.trim().split('\n') }
}

test('a started job runs by itself in a process without a server, keeps it alive, and lets it end when it is stopped', async () => {
  expect(await script('nothing')).toEqual({ code: 0, lines: ['started', 'run 0', 'run 0'] })
})

test.each([
  ['server', ['started', 'answered 200']],
  ['test kit', ['started']],
  ['service', ['started', 'service 1']],
  ['stopped', ['started']],
])('it neither runs nor keeps the process alive when there is, or was: %s', async (what, lines) => {
  const result = await script(what)
  expect({ ...result, lines: result.lines.filter((line) => !line.startsWith('{')) }).toEqual({ code: 0, lines })
})

test('a service that starts later takes it over', async () => {
  const { code, lines } = await script('late service')
  expect([code, lines.filter((line) => line.startsWith('service'))]).toEqual([0, ['service scheduled']])
})
