import { cpSync, existsSync, lstatSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateClient } from '../../cli/sdk/generate.ts'
import { framework } from '../support/cli/fresh.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project } from '../support/cli.ts'
import { runTsc } from '../support/typescript.ts'

const shop = join(import.meta.dirname, 'fixtures/shop')
const strict = [
  '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --verbatimModuleSyntax --isolatedModules',
  '--noUnusedLocals --noImplicitOverride --target es2022 --module nodenext',
]
  .join(' ')
  .split(' ')

/** Clients with and without each part, in which no function may be left that nothing calls. */
const [channels, get] = [{ a: { address: '/a', bindings: { ws: {} } } }, { get: {} }]
const parts = {
  'none.ts': generateClient({}),
  'fixed.ts': generateClient({ paths: { '/a': get } }),
  'param.ts': generateClient({ paths: { '/a/{id}': get } }),
  'rest.ts': generateClient({ paths: { '/a/{wildcard}': get } }),
  'sockets.ts': generateClient({}, { messages: { channels } }),
}

describe('a client of every kind of route', () => {
  let project: Project
  let runner: Runner
  const read = (file: string) => readFileSync(join(project.folder, file), 'utf8')
  beforeAll(async () => {
    runner = startRunner()
    project = makeProject({}, ['zod', 'typebox'])
    cpSync(shop, project.folder, { recursive: true })
    project.write(parts)
    const ended = await framework(project.folder, ['generate-sdk'])
    expect(ended).toMatchObject({ code: 0, stdout: '' })
    expect(ended.stderr).toContain('src/sdk.ts: ')
    expect(ended.stderr).toContain('Not booted')
  })
  afterAll(() => {
    runner.close()
    project.remove()
  })

  test.each([
    ['in a browser', ['--lib', 'es2023,dom,dom.iterable', '--types', '']],
    ['in Node.js', ['--lib', 'es2023', '--types', 'node']],
  ])('compiles strictly %s, takes good calls and refuses bad ones', (_where, lib) => {
    const files = ['src/sdk.ts', 'src/types.ts', 'src/scenario.ts', ...Object.keys(parts)]
    expect(runTsc([...strict, ...lib, ...files], project.folder).output).toBe('')
  })

  test('has types that can be declared without inference', () => {
    const lib = ['--lib', 'es2023,dom', '--types', '']
    const declarations = ['--declaration', '--isolatedDeclarations', 'src/sdk.ts']
    expect(runTsc([...strict, ...lib, ...declarations], project.folder).output).toBe('')
  })

  test('names its generator and its command, and imports nothing', () => {
    const sdk = read('src/sdk.ts')
    expect(sdk).toMatch(/^\/\/ Written by `framework generate-sdk`/)
    expect(sdk).not.toMatch(/^import |import\(|require\(/m)
    expect(sdk).toContain('/** Adds a user */')
  })

  test('is the same each time, and is left alone then', async () => {
    const before = statSync(join(project.folder, 'src/sdk.ts')).mtimeMs
    const ended = await runner.run(project.folder, ['generate-sdk'])
    expect([ended.code, ended.stderr.includes('unchanged')]).toEqual([0, true])
    expect(statSync(join(project.folder, 'src/sdk.ts')).mtimeMs).toBe(before)
    const dry = await runner.run(project.folder, ['generate-sdk', '--dry-run'])
    expect(dry.stdout).toBe(read('src/sdk.ts'))
  })

  test('--check reports whether it is up to date', async () => {
    expect((await runner.run(project.folder, ['generate-sdk', '--check'])).code).toBe(0)
    const sdk = read('src/sdk.ts')
    writeFileSync(join(project.folder, 'src/sdk.ts'), sdk.trimEnd().replaceAll('\n', '\r\n'))
    expect((await runner.run(project.folder, ['generate-sdk', '--check'])).code).toBe(0)
    writeFileSync(join(project.folder, 'src/sdk.ts'), `${sdk}// more\n`)
    const changed = await runner.run(project.folder, ['generate-sdk', '--check'])
    writeFileSync(join(project.folder, 'src/sdk.ts'), sdk)
    expect([changed.code, changed.stdout]).toEqual([1, ''])
    expect(changed.stderr).toContain('src/sdk.ts is not up to date: run npm run framework -- generate-sdk\n')
    const missing = await runner.run(project.folder, ['generate-sdk', '--check', '--out', 'web/api.ts'])
    expect([missing.code, existsSync(join(project.folder, 'web'))]).toEqual([1, false])
    expect(missing.stderr).toContain('web/api.ts is missing: run npm run framework -- generate-sdk --out web/api.ts\n')
  })

  test('--boot has the routes of plugins, --name another name, and --check looks at both', async () => {
    expect(read('src/sdk.ts')).not.toContain('health')
    // On its own: the application is the same one in all that the other runs.
    const ended = await framework(project.folder, ['generate-sdk', '--boot', '-o', 'web/api.ts', '--name', 'ShopApi'])
    expect(ended).toMatchObject({ code: 0, stdout: '' })
    const sdk = read('web/api.ts')
    expect(sdk).toContain('readonly health: {')
    expect(sdk).toContain('export function createShopApi(options: ClientOptions = {}): ShopApi {')
    expect(sdk).toContain('`framework generate-sdk --out web/api.ts --name ShopApi --boot`')

    // It is looked at as it was written.
    const check = ['generate-sdk', '--check', '-o', 'web/api.ts']
    expect(await framework(project.folder, check)).toMatchObject({ code: 0, stderr: '' })
    project.write({ 'web/api.ts': `${sdk}// more\n`, 'yarn.lock': '' })
    const changed = await framework(project.folder, check)
    project.write({ 'web/api.ts': sdk })
    rmSync(join(project.folder, 'yarn.lock'))
    expect([changed.code, changed.stderr]).toEqual([
      1,
      'web/api.ts is not up to date: run yarn framework generate-sdk --out web/api.ts --name ShopApi --boot\n',
    ])
  })

  test('a link stays one', async () => {
    project.write({ 'shared/api.ts': '' })
    symlinkSync(join(project.folder, 'shared/api.ts'), join(project.folder, 'link.ts'))
    expect((await runner.run(project.folder, ['generate-sdk', '--out', 'link.ts', '--force'])).code).toBe(0)
    expect(lstatSync(join(project.folder, 'link.ts')).isSymbolicLink()).toBe(true)
    expect(read('shared/api.ts')).toContain('createClient')
  })

  test('a file of someone else is not overwritten without --force', async () => {
    project.write({ 'own.ts': 'export const mine = 1\n' })
    const refused = await runner.run(project.folder, ['generate-sdk', '--out', 'own.ts'])
    expect([refused.code, read('own.ts')]).toEqual([1, 'export const mine = 1\n'])
    expect(refused.stderr).toContain('--force overwrites it')
    expect((await runner.run(project.folder, ['generate-sdk', '--out', 'own.ts', '--force'])).code).toBe(0)
    expect(read('own.ts')).toContain('createClient')
  })

  test.each([
    [['--name', 'no type'], 2, '--name takes a new type name'],
    [['--name', "X'; alert(1) //"], 2, '--name takes a new type name'],
    [['--name', 'My_Api'], 2, '--name takes a new type name'],
    [['--name', 'ApiError'], 2, '--name takes a new type name'],
    [['--name', 'Promise'], 2, '--name takes a new type name'],
    [['--entry', 'nowhere.ts'], 1, 'the entry nowhere.ts does not exist'],
    [['--export', 'nothing'], 1, 'exports no server: looked for "nothing". It exports server.'],
    [['--out', 'src'], 1, 'src cannot be read'],
    [['--out', 'package.json/sdk.ts'], 1, 'package.json/sdk.ts cannot be'],
    [['--out'], 2, '--out needs a value'],
    [['extra'], 2, '"extra" is one argument too many'],
    [['--chek'], 2, 'there is no --chek; did you mean --check?'],
    [['--entry', 'a.ts', '--chek'], 2, 'there is no --chek; did you mean --check?'],
    [['--entry', 'a.ts', '-o', 'b.ts', '-z'], 2, 'there is no -z'],
    [['--timeout', '0'], 2, '--timeout takes seconds, more than 0 and at most a day, not 0'],
  ])('%j is exit code %i with a message', async (args, code, message) => {
    const ended = await runner.run(project.folder, ['generate-sdk', ...args])
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).not.toMatch(/^ {4}at /m)
  })
})
