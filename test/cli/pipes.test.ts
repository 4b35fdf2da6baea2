import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readManifest } from '../../cli/project/project.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makePipe } from '../support/pipe.ts'

let runner: Runner
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'framework-pipes-')))
beforeAll(() => {
  runner = startRunner()
  writeFileSync(join(folder, 'package.json'), '{ "name": "app", "type": "module" }')
  mkdirSync(join(folder, 'src'))
  for (const path of ['src/server.ts', 'src/sdk.ts', '.gitignore', '.env']) makePipe(join(folder, path))
})
afterAll(() => {
  runner.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  ['routes', /the entry src\/server\.ts is a named pipe, not a file/],
  ['serve --entry src/server.ts', /the entry src\/server\.ts is a named pipe, not a file/],
  ['build --entry src/server.ts', /the entry src\/server\.ts is a named pipe, not a file/],
  ['init-storage --type local', /\.gitignore is a named pipe, not a file/],
  ['key-generate --type ed25519 --env', /\.env is not a regular file/],
])('framework %s waits for no named pipe', async (command, message) => {
  const ended = await runner.run(folder, command.split(' '))
  expect(ended.code).not.toBe(0)
  expect(ended.stderr).toMatch(message)
})

test('nor does it for a package.json', () => {
  const file = makePipe(join(folder, 'src/package.json'))
  expect(() => readManifest(file)).toThrow(/package\.json cannot be read: .* is a named pipe/)
})
