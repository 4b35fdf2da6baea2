import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transformSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadedBy } from '../support/package/loaded-packages.ts'
import { runTsc } from '../support/typescript.ts'
import { printedBy, runtimeKinds, type Target } from './targets.ts'

const root = join(import.meta.dirname, '../..')
const fixtures = join(import.meta.dirname, 'controllers')
const source = join(fixtures, 'library.ts')
const used = runtimeKinds.filter((target) => target.adapter === undefined)
const compilers = ['tsc', 'tsc-legacy', 'esbuild', 'esbuild-legacy'] as const
// In its own folder, as an application has it: types and code are those of the built package.
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'framework-controllers-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/framework'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "dependencies": { "framework": "*" } }')
  copyFileSync(join(fixtures, 'run.mjs'), join(folder, 'run.mjs'))
  for (const name of ['source', 'broken']) mkdirSync(join(folder, name))
  copyFileSync(source, join(folder, 'source/library.ts'))
  writeFileSync(join(folder, 'broken/broken.js'), `throw new TypeError('no database at import')\n`)
  for (const compiler of compilers) compile(compiler)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function compile(compiler: (typeof compilers)[number]): void {
  const experimentalDecorators = compiler.endsWith('-legacy')
  const outDir = join(folder, compiler)
  if (compiler.startsWith('esbuild')) {
    mkdirSync(outDir)
    const tsconfigRaw = { compilerOptions: { experimentalDecorators, verbatimModuleSyntax: true } }
    const { code } = transformSync(readFileSync(source, 'utf8'), { loader: 'ts', target: 'es2022', tsconfigRaw })
    writeFileSync(join(outDir, 'library.js'), code)
    return
  }
  const compilerOptions = {
    ...{
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      skipLibCheck: true,
      verbatimModuleSyntax: true,
      rootDir: 'source',
    },
    ...{ lib: ['es2023', 'dom', 'esnext.disposable'], typeRoots: [join(root, 'node_modules/@types')], types: ['node'] },
    ...{ experimentalDecorators, outDir },
  }
  writeFileSync(join(folder, `${compiler}.json`), JSON.stringify({ compilerOptions, include: ['source'] }))
  const { ok, output } = runTsc(['-p', `${compiler}.json`], folder)
  if (!ok) throw new Error(output)
}

/** What the controllers of a pattern led to; `failed` and `cause` where they cannot be loaded. */
interface Result {
  readonly failed?: string
  readonly cause?: string
}

/** One process for all patterns of a runtime. */
async function run(target: Target): Promise<{ readonly results: Result[]; readonly warnings: string[] }> {
  const patterns = [...compilers.map((compiler) => `${compiler}/*.js`), 'broken/*.js', `${folder}/source/*.ts`]
  const options = { cwd: folder, env: { NODE_ENV: 'production' } }
  return (await printedBy(target, join(folder, 'run.mjs'), patterns, options)) as Awaited<ReturnType<typeof run>>
}

const expected = {
  answers: [
    [401, '{"error":"Unauthorized"}', 'controller'],
    [200, '[{"id":1,"title":"Kindred"}]', 'controller,route'],
    [200, '{"id":1,"title":"Kindred"}', 'controller'],
    [404, '{"error":"no such book"}', 'controller'],
    [500, '', expect.anything()],
    [401, '{"error":"Unauthorized"}', 'controller'],
    [
      409,
      expect.stringMatching(/^\{"code":"ValidationError","message":"a book has a title","errors":\[/),
      'controller',
    ],
    [201, '{"id":2}', 'controller'],
  ],
  steps: [
    'scope json',
    expect.stringMatching(/^group anonymous \([\w-]+\/library\.[jt]s:\d+\)$/),
    'guard policy(library.member)',
    'guard policy(library.staff)',
    'input validation',
    'handler Books.add',
  ],
  logged: [],
  again: 2,
}

describe.each(used)('controllers on $name', (target) => {
  let results: Result[]
  let warnings: string[]
  beforeAll(async () => {
    ;({ results, warnings } = await run(target))
  })

  test.each(compilers)('compiled by %s', (compiler) => {
    expect(results[compilers.indexOf(compiler)]).toEqual(expected)
  })

  test('what is deprecated is reported, once in a process', () => {
    expect(warnings).toEqual(['FRAMEWORK_DEP0001', 'FRAMEWORK_DEP0002'])
  })

  test('a file that cannot be loaded is named', () => {
    const { failed, cause } = results[compilers.length]!
    expect(failed).toContain(
      `the controller file ${join(folder, 'broken/broken.js')} cannot be loaded: no database at import`,
    )
    expect(cause).toBe('TypeError')
  })

  test('the source itself, where the runtime supports it; otherwise the message names the remedy', () => {
    const result = results[compilers.length + 1]!
    if (target.runtime === 'bun' || target.runtime === 'deno') return expect(result).toEqual(expected)
    expect(result.failed).toContain(`the controller file ${join(folder, 'source/library.ts')} cannot be loaded`)
    expect(result.failed).toContain('Node.js cannot run TypeScript with decorators by itself')
    expect(result.failed).toContain("in Vitest test.server.deps.inline: ['framework']")
  })
})

test.each([
  ['none', undefined, false],
  ['an empty list', [], false],
  ['one', ['tsc/*.js'], true],
])('with %s as patterns, the package that finds files is loaded only where it is needed', async (name, patterns, needed) => {
  const options = JSON.stringify({ controllerPatterns: patterns })
  const file = join(folder, `boot-${name}.mjs`)
  writeFileSync(file, `import { Server } from 'framework'; await new Server(${options}).ready(); export const x = 1`)
  const { packages } = await loadedBy(pathToFileURL(file).href, folder)
  expect(packages.includes('tinyglobby')).toBe(needed)
})
