import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runtimeBinary } from './runtimes/run.mjs'
import { lean } from './support/package/lean.ts'
import { buildIfMissing, execOutput, expectTypesToResolve, pack, root } from './support/package/tarball.ts'

function makeScratch(): string {
  buildIfMissing()
  const scratch = mkdtempSync(join(tmpdir(), 'framework-package-'))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  return scratch
}

test('the types of every entry point resolve under every resolution of modern modules', async () => {
  const scratch = makeScratch()
  const plugins = readdirSync(join(root, 'dist/plugins'))
    .filter((name) => existsSync(join(root, 'dist/plugins', name, 'index.js')))
    .map((name) => `plugins/${name}`)
  expect(plugins.length).toBeGreaterThan(35)
  await expectTypesToResolve(await pack(scratch, root, '--ignore-scripts'), plugins, scratch)
})

test.each(['node22', 'node24'])('a server responds without loading fetch and HTTPS on %s', async (runtime) => {
  const scratch = makeScratch()
  mkdirSync(join(scratch, 'node_modules'))
  symlinkSync(root, join(scratch, 'node_modules/framework'))
  writeFileSync(join(scratch, 'lean.mjs'), lean)
  expect(JSON.parse(await execOutput(runtimeBinary(runtime)!, ['lean.mjs'], scratch))).toEqual([])
})
