import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { managers, scratch, type, walk } from './support/newcomer.ts'
import { root } from './support/package/tarball.ts'

test('npm run new -- --help shows the options and creates nothing', async () => {
  const folder = join(scratch, 'help')
  mkdirSync(folder)
  const said = await type(`${process.execPath} ${join(root, 'new.mjs')} --help`, folder)
  expect(said).toContain('Usage: framework init [folder] [options]')
  expect(readdirSync(folder)).toEqual([])
})

const [npm] = managers

// newcomer.long.test.ts has Bun and Deno, too.
test('a newcomer gets from a clone to a server in production with npm', () => walk(npm!, false))
