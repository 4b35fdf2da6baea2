import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import * as mainDoor from 'framework'
import type { AnyCheck } from 'framework/kernel'
import * as kernelDoor from 'framework/kernel'
import { beforeAll, describe, expect, test } from 'vitest'
import { applicationChecks } from '../cli/doctor/application.ts'
import { packageChecks } from '../cli/doctor/packages.ts'
import { repositoryChecks } from '../cli/doctor/repository.ts'
import { firstSteps } from '../docs/site/first-steps.ts'
import { statuses } from '../kernel/http/response/statuses.ts'
import { type CatalogKey, catalog, onByDefault } from '../plugins/catalog.ts'
import { type Block, docstringBlocks, markdownAnchors, markdownBlocks, markdownLinks } from './support/docs/blocks.ts'
import { compileBlocks } from './support/docs/compile.ts'
import { errorRows, membersOf, read, readFolder, root } from './support/docs/texts.ts'

const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
    .filter((file) => existsSync(join(root, file)))
    .map(read),
  ...readFolder('docs', '.md'),
]
const sources = [read('server.ts'), ...['kernel', 'plugins', 'cli'].flatMap((folder) => readFolder(folder, '.ts'))]

/** Blocks with mistakes, which the same run of the compiler has to find. */
const mistaken = markdownBlocks(
  'a.md',
  ['```ts', "router.get('/', () => 1)", 'const a: string = 1', '```', '', '```ts', 'ctx.use(5)', '```'].join('\n'),
)
let found: Map<Block, string[]>

describe('the code in the documentation compiles', () => {
  const inPages = pages.flatMap(({ file, text }) => markdownBlocks(file, text))
  const inDocstrings = sources.flatMap(({ file, text }) => docstringBlocks(file, text))
  const compiled = [...inPages, ...inDocstrings].filter((block) => !block.skip && !block.source)

  beforeAll(() => {
    found = compileBlocks([...compiled, ...mistaken])
  })

  test('and one that does not is reported where it stands in the text', () => {
    const [first, second] = mistaken
    expect(found.get(first!)).toEqual([expect.stringMatching(/^a\.md:3:7 error TS2322/)])
    expect(found.get(second!)).toEqual([expect.stringMatching(/^a\.md:7:9 error TS2345/)])
  })

  const files = [...new Set(compiled.map((block) => block.file))]
  test.each(files)('in %s', (file) => {
    const errors = compiled.filter((block) => block.file === file).flatMap((block) => found.get(block) ?? [])
    expect(errors).toEqual([])
  })

  const shown = inPages.filter((block) => block.source !== undefined)
  test.each(
    shown.map((block) => [`${block.file}:${block.line}`, block] as const),
  )('%s shows lines of the file that it names', (_place, block) => {
    const { text } = read(block.source!)
    expect(text.includes(`${block.code}\n`), `${block.source} does not have these lines:\n${block.code}`).toBe(true)
  })
})

test.each(pages.map(({ file, text }) => [file, text]))('the links of %s lead somewhere', (file, text) => {
  const broken = markdownLinks(text).filter(({ target }) => {
    if (/^[a-z]+:/.test(target)) return false
    const [path = '', anchor] = target.split('#')
    const to = path === '' ? file : normalize(join(dirname(file), path))
    if (!existsSync(join(root, to))) return true
    return anchor !== undefined && to.endsWith('.md') && !markdownAnchors(read(to).text).has(anchor)
  })
  expect(broken.map(({ line, target }) => `${file}:${line} → ${target}`)).toEqual([])
})

describe('docs/errors.md', () => {
  const page = read('docs/errors.md').text
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, code, status]) => `${code} ${status}`)
  const raised = sources.flatMap(({ text }) => errorRows(text)).map(({ code, status }) => `${code} ${status}`)

  test('has every error that the code can raise, with its status, and no other', () => {
    const real = new Set(raised)
    expect([...rows].sort()).toEqual([...real].sort())
  })

  test('has each once, in the order of the alphabet within its table', () => {
    expect(rows.filter((row, i) => rows.indexOf(row) !== i)).toEqual([])
    for (const table of page.split(/^## /m).slice(1)) {
      const codes = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code!)
      expect(codes).toEqual([...codes].sort())
    }
  })
})

test('docs/errors.md has every code of a deprecation that the code can emit, and no other, in order', () => {
  const rows = [...read('docs/errors.md').text.matchAll(/^\| `(FRAMEWORK_DEP\d{4})` \|/gm)].map(([, code]) => code!)
  const emitted = sources.flatMap(({ text }) =>
    [...text.matchAll(/\bdeprecation\(\s*'(\w+)'/g)].map(([, code]) => code!),
  )
  expect(rows.length).toBeGreaterThan(0)
  expect(rows).toEqual(emitted.sort())
})

test('docs/doctor.md has every check with its level and whether it is for production, in the order of the alphabet', async () => {
  const page = read('docs/doctor.md').text
  const rows = [...page.matchAll(/^\| `([\w.-]+)` \| (error|warning|hint) \| (yes|no) \|/gm)].map(([, ...row]) => row)
  const row = (code?: string, level?: string, production?: unknown) => [code, level, production ? 'yes' : 'no']
  const ofProject = [...applicationChecks, ...packageChecks, ...repositoryChecks].map((one) =>
    row(one.code, one.level, one.production),
  )
  // The findings of the command itself are found in its source.
  const ofCommand = [...read('cli/doctor/examine.ts').text.matchAll(/\bcode: '([^']+)', level: '(\w+)'/g)].map(
    ([, code, level]) => row(code, level),
  )
  const plugins = [...Object.values(catalog), mainDoor.cronUi].map(({ plugin }) => plugin.doctor?.() ?? [])
  const ofPlugins = (await Promise.all(plugins)).flat().map((one) => row(one.code, one.level, one.production))
  const checks = [...ofProject, ...ofCommand, ...ofPlugins]
  expect(checks.length).toBeGreaterThan(40)
  const real = new Set(checks.map((check) => check.join(' ')))
  expect(rows.map((row) => row.join(' ')).sort()).toEqual([...real].sort())
  for (const table of page.split(/^## /m).slice(1)) {
    const codes = [...table.matchAll(/^\| `([\w.-]+)` \| (?:error|warning|hint)/gm)].map(([, code]) => code!)
    expect(codes).toEqual([...codes].sort((a, b) => (a < b ? -1 : 1)))
  }
})

test('docs/reference/options.md has the options of the kernel with their real defaults', () => {
  const rows = read('docs/reference/options.md').text.matchAll(/^\| `([\w.]+)` \| ([^|]*) \|/gm)
  const seen = Object.fromEntries([...rows].map(([, name, value]) => [name!, value!.replaceAll('`', '')]))
  // What the kernel receives from plugins/shared is not an option.
  const {
    limits,
    workers: _workers,
    guarded: _guarded,
    errorFormat: _format,
    parseQuery: _parseQuery,
    rewrite: _rewrite,
    bodies: _bodies,
    inspection: _inspection,
    catalog: _catalog,
    substitutes: _substitutes,
    ...settings
  } = kernelDoor.kernelOptions.parse({})
  const real = {
    ...settings,
    ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [`limits.${name}`, value])),
  }
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(Object.keys(real)))
  for (const [name, value] of Object.entries(real)) {
    if (typeof value === 'boolean' || (typeof value === 'number' && name !== 'port'))
      expect(seen[name], name).toBe(String(value))
  }
})

describe('tables that repeat the code', () => {
  test('the README lists the plugins of the catalog, and which are on by default', () => {
    const rows = read('README.md').text.matchAll(/^\| (?:\[)?`(\w+)`(?:\]\([^)]*\))? \| .* \| (yes|no) \|$/gm)
    const seen = Object.fromEntries([...rows].map(([, key, on]) => [key!, on === 'yes']))
    expect(seen).toEqual(
      Object.fromEntries((Object.keys(catalog) as CatalogKey[]).map((key) => [key, onByDefault.includes(key)])),
    )
  })

  test('docs/reference/response.md lists the shorthands with their statuses', () => {
    const { text } = read('docs/reference/response.md')
    for (const [name, status] of Object.entries(statuses))
      expect(text.replace(/\s+/g, ' ')).toContain(`\`${name}\` ${status}`)
  })

  test('docs/reference/kernel.md names the exports of framework/kernel beyond framework', () => {
    const { text } = read('docs/reference/kernel.md')
    const beyond = Object.keys(kernelDoor).filter((name) => !(name in mainDoor))
    expect(beyond.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })

  test('docs/reference/tracing.md has every channel that the code reports on, and no other', () => {
    const page = read('docs/reference/tracing.md')
    const seen = [...page.text.matchAll(/^\| `framework:([\w.]+)`/gm)].map(([, kind]) => kind!)
    const used = sources.flatMap(({ text }) =>
      [...text.matchAll(/^(?:export )?const \w+ = new Trace(?:Point)?<\w+>\('([\w.]+)'\)/gm)].map(([, kind]) => kind!),
    )
    expect(seen.sort()).toEqual(used.sort())
  })

  test('the commands of the README are scripts', () => {
    const { scripts } = JSON.parse(read('package.json').text) as { scripts: Record<string, string> }
    const { text } = read('README.md')
    expect(text).toContain('npm ci && npm start\n')
    expect(text).toContain('npm ci && npm test\n')
    expect(scripts.start).toBe('node build.mjs --if-changed && node dist/cli/index.js serve')
    expect(scripts.test).toBe('node test/run.mjs')
    expect(text).toContain('npm run new -- ../my-app\n')
    expect(scripts.new).toBe('node new.mjs')
  })

  test('no page installs the package from the registry: another one has its name there', () => {
    const asked = [...pages, ...sources].flatMap(({ file, text }) => {
      const found = /\b(npx|bunx|dlx|create|install|add)( -\S+)* framework\b|npm:framework\b/.exec(text)
      return found === null ? [] : [`${file}: ${found[0]}`]
    })
    expect(asked).toEqual([])
  })
})

describe('the page of each plugin', () => {
  const folders = [...new Set(readFolder('plugins', '.ts').map(({ file }) => file.split('/')[1]!))].filter(
    (name) => !name.endsWith('.ts') && name !== 'shared',
  )
  const pageOf = (key: string) => read(`docs/plugins/${key}.md`).text
  const sourcesOf = (key: string) => sources.filter(({ file }) => file.startsWith(`plugins/${key}/`))

  test('exists, and there is no other', () => {
    const written = readFolder('docs/plugins', '.md').map(({ file }) => file.slice('docs/plugins/'.length, -3))
    expect(written.sort()).toEqual([...folders].sort())
  })

  test.each(folders)('%s: begins with a description and an example, and ends with its errors', (key) => {
    const [intro = '', ...sections] = pageOf(key).split(/^## /m)
    expect(intro).toMatch(new RegExp(`^# ${key}\\n\\n[A-Z]`))
    expect(intro).toContain('\n```ts\n')
    expect(sections.at(-1)).toMatch(/^Errors\n/)
  })

  test.each(folders)('%s: names every error of its code', (key) => {
    const codes = sourcesOf(key).flatMap(({ text }) => errorRows(text).map(({ code }) => code))
    expect(codes.filter((code) => !pageOf(key).includes(`\`${code}\``))).toEqual([])
  })

  const cellsOf = (key: string) =>
    pageOf(key)
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split(' | '))

  test.each(Object.keys(catalog) as CatalogKey[])('%s: has a row for every option, with its default', (key) => {
    const checks = membersOfOptions(catalog[key].plugin.options)
    expect(checks !== undefined || key === 'requestContext').toBe(true)
    const rows = cellsOf(key)
    const wrong = Object.entries(checks ?? {}).flatMap(([name, { parts }]) => {
      const row = rows.find(([first]) => first!.includes(`\`${name}\``) || first!.includes(`\`${name}.`))
      if (row === undefined) return [`no row for ${name}`]
      const { fallback } = parts
      const written = row[1]!.replaceAll(/(?<=\d)_(?=\d)/g, '')
      // A flag may be described in words: «no one», or its meaning.
      const isSaid = typeof fallback === 'boolean' && !/true|false/.test(written)
      if (isSaid || !['number', 'string', 'boolean'].includes(typeof fallback)) return []
      return written.includes(String(fallback)) ? [] : [`${name}: not ${fallback}`]
    })
    expect(wrong).toEqual([])
  })

  // The keys of requestContext are free.
  const checked = Object.keys(catalog).filter((key) => key !== 'requestContext')
  test.each(checked)('%s: a wrong option is reported where docs/reference/plugins.md says', (key) => {
    expect(() => new mainDoor.Server({ plugins: { [key]: { nonsense: 1 } } as {} })).toThrow(
      expect.objectContaining({ code: 'OptionError', message: expect.stringContaining(`plugins.${key}`) }),
    )
  })
})

/** The checks of a plugin's options, of its elements where it takes a list. */
function membersOfOptions(options: unknown): { readonly [name: string]: AnyCheck } | undefined {
  return (options as AnyCheck | undefined)?.parts.members
}

test('docs/reference/routes.md has every route option', () => {
  const merged = sources.flatMap(({ text }) => membersOf(text, 'RouteOptions'))
  const [, table = ''] = /^## Route options\n([\s\S]*?)\n## /m.exec(read('docs/reference/routes.md').text) ?? []
  const seen = table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split(' | ')[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
  expect(seen.sort()).toEqual([...new Set(merged)].sort())
})

describe('the readers of the documentation', () => {
  const block = (...lines: string[]) => markdownBlocks('a.md', lines.join('\n'))

  test('find blocks with their lines, indented ones too, and other languages not', () => {
    expect(block('text', '```ts', 'a', 'b', '```', '- item', '  ```ts', '  c', '  ```', '```sh', 'd', '```')).toEqual([
      { file: 'a.md', line: 3, code: 'a\nb' },
      { file: 'a.md', line: 8, code: 'c' },
    ])
  })

  test('know why a block is left out, and which file one shows', () => {
    expect(block('```ts skip: shows a mistake', 'a', '```')[0]).toMatchObject({ skip: 'shows a mistake' })
    expect(block('```ts no-run: needs a printer', 'a', '```')[0]).toMatchObject({ noRun: 'needs a printer' })
    expect(block('```ts file=docs/a.ts', 'a', '```')[0]).toMatchObject({ source: 'docs/a.ts' })
    expect(() => block('```ts skip', 'a', '```')).toThrow(/neither/)
    expect(() => block('```ts', 'a')).toThrow(/not closed/)
  })

  test('find examples in docstrings', () => {
    const text = '/**\n * Text.\n *\n * @example\n * a(\n *   b)\n */\n/** @example none */\n'
    expect(docstringBlocks('a.ts', text)).toEqual([{ file: 'a.ts', line: 5, code: 'a(\n  b)' }])
  })

  test('find links outside of code, and anchors', () => {
    expect(markdownLinks('[a](b.md#c) `[d](e)`\n```\n[f](g)\n```\n[h](i)')).toEqual([
      { line: 1, target: 'b.md#c' },
      { line: 5, target: 'i' },
    ])
    expect([...markdownAnchors('# A page\n## What `it` is, twice?\n## A page\n```\n# no\n```')]).toEqual([
      'a-page',
      'what-it-is-twice',
      'a-page-1',
    ])
  })

  test('find the members of an interface', () => {
    const text =
      '  interface A extends B {\n    /** One: { a } */\n    a?: { x: number }\n    b(c: number): void\n  }\n'
    expect(membersOf(text, 'A')).toEqual(['a', 'b'])
    expect(membersOf(text, 'B')).toEqual([])
  })

  test('find the rows of the table of errors, over several lines too', () => {
    expect(
      errorRows(
        "/** defineError('C', 1) */ const a = defineError('AError', 400, () => '')\nconst b = defineError(\n  'BError',\n  404,\n  () => '')\nconst c = defineError('CError', () => '')\nexport const { DError, EError, FError } = defineErrors({\n  DError: [409, () => ''],\n  EError: (why: string) =>\n    why,\n  FError: [\n    410,\n    () => '',\n  ],\n})",
      ),
    ).toEqual([
      { code: 'AError', status: 400 },
      { code: 'BError', status: 404 },
      { code: 'CError', status: 500 },
      { code: 'DError', status: 409 },
      { code: 'EError', status: 500 },
      { code: 'FError', status: 410 },
    ])
  })
})

describe('the first steps', () => {
  const steps = firstSteps.map(([file]) => read(file))

  test('are at most ten pages and 9000 words', () => {
    const words = steps.map(({ text }) => text.match(/\S+/g)!.length)
    expect(steps.length).toBeLessThanOrEqual(10)
    expect(words.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(9000)
  })

  test.each(
    steps.map(({ file, text }, i) => [file, text, i] as const),
  )('%s says which step it is, and leads to the next', (file, text, i) => {
    expect(text).toContain(`\n\nStep ${i + 1} of ${steps.length}. `)
    const next = steps[i + 1]?.file
    const [, target] = /\nNext: \[[^\]]+\]\(([^)]+)\)\n$/.exec(text) ?? []
    expect(target && normalize(join(dirname(file), target))).toBe(next)
  })

  test('are all pages of their folder', () => {
    const written = readFolder('docs/first-steps', '.md').map(({ file }) => file)
    expect(steps.map(({ file }) => file).sort()).toEqual(['docs/getting-started.md', ...written].sort())
  })
})
