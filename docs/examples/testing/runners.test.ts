import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../../../test/runtimes/run.mjs'
import { withTypeScript } from '../../../test/support/typescript-process.ts'

const root = join(import.meta.dirname, '../../..')
const folder = 'docs/examples/testing/runners'
const filesOf = (runner: string) => ['plugin', 'shop'].map((name) => `./${folder}/${runner}/${name}.test.ts`)

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' }
  // A test runner that runs within another one would report to it.
  for (const name of Object.keys(env)) if (/^(?:VITEST|NODE_TEST_CONTEXT)/.test(name)) Reflect.deleteProperty(env, name)
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: root, env })
  return stdout + stderr
}

// Each runs the files side by side; Bun and Deno with the built package.
test('node --test', async () => {
  const output = await outputOf(process.execPath, [...withTypeScript, '--test', ...filesOf('node')])
  expect(output).toMatch(/\b(?:tests|pass) 14\b/)
  expect(output).toMatch(/\bfail 0\b/)
})

const [bun, deno] = ['bun', 'deno'].map(runtimeBinary)

test.skipIf(bun === undefined)('bun test', async () => {
  const output = await outputOf(bun!, ['--tsconfig-override=tsconfig.build.json', 'test', ...filesOf('bun')])
  expect(output).toMatch(/\b14 pass\n\s+0 fail\b/)
})

test.skipIf(deno === undefined)('deno test', async () => {
  const flags = ['-A', '--no-check', '--node-modules-dir=manual', '--parallel']
  expect(await outputOf(deno!, ['test', ...flags, ...filesOf('deno')])).toContain('14 passed | 0 failed')
})

test('the test kit and the contracts load no runner', async () => {
  const entryPoints = ['framework/testing', 'framework/testing/contracts']
  const script = `
    for (const name of ${JSON.stringify(entryPoints)}) await import(name)
    console.log(process.moduleLoadList.filter((name) => /test_runner/.test(name)).length)`
  expect(existsSync(join(root, 'dist/test/contracts/index.js'))).toBe(true)
  expect(await outputOf(process.execPath, ['--input-type=module', '-e', script])).toBe('0\n')
  for (const place of ['plugins/testing', 'test/contracts'])
    for (const file of readdirSync(join(root, place), { recursive: true, encoding: 'utf8' }))
      if (/\.m?ts$|\.mjs$/.test(file))
        expect(readFileSync(join(root, place, file), 'utf8'), file).not.toMatch(/from '(?:vitest|node:test|bun:test)'/)
})
