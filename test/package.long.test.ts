import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { buildIfMissing, expectTypesToResolve, pack, root } from './support/package/tarball.ts'

test('the types of every entry point resolve under every resolution of modern modules', async () => {
  buildIfMissing()
  const scratch = mkdtempSync(join(tmpdir(), 'framework-package-'))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const plugins = readdirSync(join(root, 'dist/plugins'))
    .filter((name) => existsSync(join(root, 'dist/plugins', name, 'index.js')))
    .map((name) => `plugins/${name}`)
  expect(plugins.length).toBeGreaterThan(35)
  await expectTypesToResolve(await pack(scratch, root, '--ignore-scripts'), plugins, scratch)
})
