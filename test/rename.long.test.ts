import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyCheckout } from './support/checkout.ts'
import { type Ended, runIn } from './support/cli.ts'
import { root } from './support/package/tarball.ts'
import { startTsc } from './support/typescript.ts'

let scratch: string
let copy: string
const run = async (folder: string, ...args: string[]): Promise<Ended> => {
  const ended = await runIn(folder, [process.execPath, ...args])
  expect([ended.code, ended.stderr]).toEqual([0, ended.stderr])
  return ended
}

beforeAll(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'framework-rename-')))
  copy = join(scratch, 'copy')
  await copyCheckout(copy)
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('the package under another name builds, and makes projects that know no other', async () => {
  const read = (file: string) => readFileSync(join(copy, file), 'utf8')
  await run(copy, 'rename.mjs', '@acme/web-kit', 'https://code.example/acme/web-kit')
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

  await run(copy, 'build.mjs')
  const cli = join(copy, 'dist/cli/index.js')
  const project = join(scratch, 'app')
  await run(scratch, cli, 'init', 'app', '--yes', '-m', '-c', '-g')
  // As installed: a package looks for optional ones where it lies.
  const modules = join(project, 'node_modules')
  const own = join(modules, '@acme/web-kit')
  cpSync(join(copy, 'dist'), join(own, 'dist'), { recursive: true })
  cpSync(join(copy, 'package.json'), join(own, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(own, 'node_modules'), 'junction')
  mkdirSync(join(modules, '@types'))
  for (const name of [
    '@types/node',
    'undici-types',
    'vitest',
    'mqtt',
    'graphql',
    '@graphql-tools',
    'node-schedule',
    'esbuild',
  ])
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction')
  const written = await run(project, join(own, 'dist/cli/index.js'), 'generate-plugin', 'audit')
  expect(written.stdout).toContain('created  src/plugins/audit/plugin.ts')
  const { stdout } = await run(project, join(own, 'dist/cli/index.js'), 'routes')
  expect(stdout).toMatch(/^POST +\/greetings/m)
  expect((await startTsc([], project)).output).toBe('')

  const texts = [
    'package.json',
    'src/index.ts',
    'src/env.ts',
    'src/logger.ts',
    'src/plugins/audit/plugin.ts',
    'README.md',
  ]
  for (const file of texts) expect(readFileSync(join(project, file), 'utf8'), file).not.toMatch(/framework(?! reads)/)
})
