import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { builtPath } from '../../../../plugins/shared/files/built-paths.ts'
import { findFiles } from '../../../../plugins/shared/files/modules.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'framework-build-'))
  for (const [name, where] of [
    ['a.js', 'dist/routes'],
    ['b.mjs', 'dist/routes'],
    ['a.html', 'dist'],
    ['a.ts', 'src/routes'],
    ['b.mts', 'src/routes'],
    ['a.ts', 'tools'],
  ] as const) {
    mkdirSync(join(folder, where), { recursive: true })
    writeFileSync(join(folder, where, name), '')
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const symbol = Symbol.for('framework.build')
afterEach(() => Reflect.deleteProperty(globalThis, symbol))

const find = async (...patterns: string[]) =>
  (await findFiles(patterns, folder)).files.map((file) => relative(folder, file))
const inBuild = (sources: string) => Object.assign(globalThis, { [symbol]: { sources, folder: join(folder, 'dist') } })

test('without a build patterns and paths are unchanged', async () => {
  expect(await find('src/**/*.{ts,mts}')).toEqual(['src/routes/a.ts', 'src/routes/b.mts'])
  expect(builtPath('src/a.html')).toBe('src/a.html')
})

test.each([
  ['src/routes/*.ts', ['dist/routes/a.js']],
  ['./src/routes/*.{ts,js}', ['dist/routes/a.js']],
  ['src/**/*.{ts,mts}', ['dist/routes/a.js', 'dist/routes/b.mjs']],
  ['src/*.html', ['dist/a.html']],
  ['tools/*.ts', ['tools/a.ts']],
  ['srcs/*.ts', []],
  ['src/../tools/*.ts', ['tools/a.ts']],
])('in a build %s is %j', async (pattern, files) => {
  inBuild('src')
  expect(await find(pattern)).toEqual(files)
})

test('in a build the same files are left out, and absolute patterns are unchanged', async () => {
  inBuild('src')
  expect(await find('src/**/*.{ts,mts}', '!src/routes/a.ts')).toEqual(['dist/routes/b.mjs'])
  expect(await find(join(folder, 'src/**/*.ts'))).toEqual(['src/routes/a.ts'])
})

test('a path is that of the build where the build has it', () => {
  inBuild('src')
  expect(builtPath('./src/a.html')).toBe(join(folder, 'dist/a.html'))
  expect(builtPath('src/none.html')).toBe('src/none.html')
  expect(builtPath('../src/a.html')).toBe('../src/a.html')
  expect(builtPath(join(folder, 'src/a.html'))).toBe(join(folder, 'src/a.html'))
})

test('sources may lie at the top', async () => {
  inBuild('')
  expect(await find('routes/*.ts')).toEqual(['dist/routes/a.js'])
  expect(builtPath('a.html')).toBe(join(folder, 'dist/a.html'))
})
