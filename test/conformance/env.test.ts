import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../runtimes/run.mjs'
import { printedBy, runtimeKinds } from './targets.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

const expected = {
  values: [2, 'b # b', 'real', { hosts: ['a'], port: 5 }, [1, 2], null, null],
  problems: [
    'the file bad.json is not a JSON object: line 1, column 15, where "," or "}" is expected',
    'A (of .env.staging) is not valid; it takes "true" or "false" (or 1, 0, yes, no, on, off)',
    'C is not valid; it takes a number',
  ],
  boot: ['GONE is missing; it takes text'],
  process: ['2', 'b # b', 'real', '{"hosts":["a"],"port":"5"}', '1,2'],
}

test.each(
  runtimeKinds.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
)('the environment on %s', async (_name, target) => {
  const unset = Object.fromEntries(['A', 'B', 'C', 'LIST', 'GONE'].map((name) => [name, undefined]))
  expect(await printedBy(target, 'env.mjs', [], { env: unset })).toEqual(expected)
})

test('Deno is asked for permissions by name, and a missing one is reported', async () => {
  // Below /dev, where a run of the tests may have its temporary folder, Deno reads nothing without all permissions.
  const folder = mkdtempSync(join(tmpdir().startsWith('/dev/') ? '/tmp' : tmpdir(), 'framework-env-'))
  try {
    const script = join(folder, 'env.mjs')
    const door = JSON.stringify(`file://${join(root, 'dist/plugins/env/index.js')}`)
    writeFileSync(join(folder, '.env'), 'A=1\n')
    writeFileSync(
      script,
      `import { createEnvSchema } from ${door}
       const build = (s) => ({ A: s.string(), HOME: s.string() })
       try { console.log(JSON.stringify(createEnvSchema(build).get('A'))) }
       catch (error) { console.log(JSON.stringify(error.problems)) }`,
    )
    const withPermissions = async (...permissions: string[]): Promise<unknown> => {
      const args = ['run', '--no-prompt', '--node-modules-dir=manual', `--allow-read=${root}`, ...permissions, script]
      const { stdout } = await run(runtimeBinary('deno')!, args, { cwd: folder })
      return JSON.parse(stdout)
    }
    const names = '--allow-env=NODE_ENV,A,HOME'
    expect(await withPermissions(names, `--allow-read=${root},${folder}`)).toBe('1')
    expect(await withPermissions('--allow-env=NODE_ENV,A', `--allow-read=${root},${folder}`)).toEqual([
      'HOME may not be read: run Deno with --allow-env=HOME',
    ])
    expect(await withPermissions(names)).toContain(
      'the file .env may not be read: run Deno with --allow-read=.env, or set file: false',
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
