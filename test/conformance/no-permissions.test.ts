import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../runtimes/run.mjs'

test('a server on Deno that may not read the environment answers failures, and logs them as JSON', async () => {
  const allowed = ['--no-prompt', '--node-modules-dir=manual', '--allow-net', '--allow-read']
  const script = join(import.meta.dirname, 'no-permissions.mjs')
  const { stdout, stderr } = await promisify(execFile)(runtimeBinary('deno')!, ['run', ...allowed, script], {
    cwd: join(import.meta.dirname, '../..'),
  })
  expect(JSON.parse(stdout)).toEqual([
    [500, ''],
    [404, '{"code":"NotFoundError","message":"Not Found"}'],
    [404, expect.stringContaining('Cannot GET /unknown')],
  ])
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'))
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 50, err: expect.objectContaining({ message: 'a mistake' }) }),
  ])
})
