import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { read, readFolder, root } from './support/docs/texts.ts'

const page = read('docs/versions.md').text
const manifest = (file: string) =>
  JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, Record<string, string>>
/** The cells of the rows below a heading, without the marks of code. */
const rowsOf = (heading: string) =>
  page
    .split(/^## /m)
    .find((part) => part.startsWith(`${heading}\n`))!
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1)
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.replaceAll('`', '').replaceAll('\\|', '|')),
    )

test('docs/versions.md names the versions that the tests run on', () => {
  const { dependencies, devDependencies } = manifest('test/runtimes/package.json')
  const { attw: _, ...pinned } = { ...dependencies, ...devDependencies }
  const tested = Object.fromEntries(rowsOf('Runtimes').map(([runtime, versions]) => [runtime!, versions!]))
  const names: Record<string, string> = { bun: 'Bun 1', deno: 'Deno 2', typescript5: 'TypeScript' }
  for (const [name, range] of Object.entries(pinned)) {
    const runtime = names[name] ?? name.replace('node', 'Node.js ')
    expect(tested[runtime], runtime).toContain(range.replace(/^.*@/, ''))
  }
  const { engines } = manifest('package.json')
  expect(tested['Node.js 20']).toBe(`${engines!.node!.replace('>=', '')} and later`)
  const lines = Object.keys(tested).filter((runtime) => runtime.startsWith('Node.js'))
  expect(lines).toHaveLength(Object.keys(pinned).filter((name) => name.startsWith('node')).length + 1)
})

test('docs/versions.md has the range of every optional package', () => {
  const { peerDependencies } = manifest('package.json')
  expect(Object.fromEntries(rowsOf('Packages that you install'))).toEqual(peerDependencies)
})

test('docs/versions.md has the code of every deprecated form', () => {
  const codes = readFolder('plugins', '.ts')
    .concat(readFolder('kernel', '.ts'), readFolder('cli', '.ts'))
    .flatMap(({ text }) => [...text.matchAll(/'(FRAMEWORK_DEP\d+)'/g)].map(([, code]) => code!))
  expect(codes.length).toBeGreaterThan(2)
  expect(rowsOf('How something is deprecated').map(([code]) => code)).toEqual([...new Set(codes)].sort())
})
