import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runtimeBinary } from './runtimes/run.mjs'
import { copyCheckout } from './support/checkout.ts'
import { root, runIn } from './support/cli.ts'

let scratch: string
let copy: string
const run = async (folder: string, program: string, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runIn(folder, [program, ...args])
  expect([code, stderr]).toEqual([0, stderr])
  return stdout
}

beforeAll(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'framework-rename-')))
  copy = join(scratch, 'copy')
  await copyCheckout(copy)
  symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules'), 'junction')
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

// rename.long.test.ts builds it as well, and compiles a project that has it.
test('the package under another name is written so everywhere, and makes projects that know no other', async () => {
  const read = (file: string) => readFileSync(join(copy, file), 'utf8')
  await run(copy, process.execPath, 'rename.mjs', '@acme/web-kit', 'https://code.example/acme/web-kit')
  expect(JSON.parse(read('package.json'))).toMatchObject({
    name: '@acme/web-kit',
    bin: { 'web-kit': './dist/cli/index.js' },
    repository: { type: 'git', url: 'git+https://code.example/acme/web-kit.git' },
    homepage: 'https://code.example/acme/web-kit#readme',
    bugs: 'https://code.example/acme/web-kit/issues',
  })
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({ name: '@acme/web-kit' })
  const page =
    read('README.md') + read('docs/plugins/upload.md') + read('docs/getting-started.md') + read('docs/cli.md')
  expect(page).toContain("import { router, Server } from '@acme/web-kit'")
  expect(page).toContain('npm run web-kit -- generate-controller books')
  expect(page).not.toMatch(/'framework|npm run framework/)
  expect(read('test/server.test.ts')).toContain("from '@acme/web-kit'")

  // It runs the sources as they are: tsx takes three times as long.
  const newest = runtimeBinary('node26')
  const file = join(copy, 'cli/index.ts')
  const cli: [string, ...string[]] = newest === undefined ? [process.execPath, '--import', 'tsx', file] : [newest, file]
  await run(scratch, ...cli, 'init', 'app', '--yes', '-m', '-c', '-g')
  const project = join(scratch, 'app')
  expect(await run(project, ...cli, 'generate-plugin', 'audit')).toContain('created  src/plugins/audit/plugin.ts')
  const texts = [
    ...['package.json', 'README.md', 'src/index.ts', 'src/env.ts', 'src/logger.ts'],
    'src/plugins/audit/plugin.ts',
  ]
  for (const file of texts) expect(readFileSync(join(project, file), 'utf8'), file).not.toMatch(/framework(?! reads)/)
  expect(readFileSync(join(project, 'src/plugins/audit/plugin.ts'), 'utf8')).toContain("from '@acme/web-kit'")
})
