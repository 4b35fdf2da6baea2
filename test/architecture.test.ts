import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { idleReasons } from './support/architecture/clocks.ts'
import { readModule } from './support/architecture/imports.ts'
import { projectOf, readProject } from './support/architecture/project.ts'
import { rules } from './support/architecture/rules.ts'
import { kernelSize } from './support/architecture/size.ts'

const project = readProject(fileURLToPath(new URL('../', import.meta.url)))

describe('the sources keep to the architecture', () => {
  for (const [promise, rule] of Object.entries(rules)) {
    test(promise, () => expect(rule(project)).toEqual([]))
  }
})

test('the kernel imports two packages', () => {
  expect(kernelSize(project).packages).toEqual(['avvio', 'find-my-way'])
})

test('each file that asks the clock of the machine has its reason, and no reason is left over', () => {
  expect(idleReasons(project)).toEqual([])
})

test('no test is tried again: one that needs a second try is broken', () => {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const files = [
    'vitest.config.ts',
    ...readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).map((file) => `test/${file}`),
  ]
  const own = files.filter(
    (file) => /\.(ts|mjs)$/.test(file) && !file.includes('node_modules') && file !== 'test/architecture.test.ts',
  )
  const tries = /(?:--retry[= ]|[{,]\s*retry:\s*|^\s*retry:\s*)[1-9]\d*\s*[,}\n]/m
  expect(own.filter((file) => tries.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})

test('docs/design.md names each folder of the kernel', () => {
  const { folders } = kernelSize(project)
  const page = readFileSync(new URL('../docs/design.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(?:kernel\/\*\.ts|(\w+)\/)` \|/gm)
  const named = Array.from(rows, ([, folder = 'kernel']) => folder)
  expect(named.sort()).toEqual(Object.keys(folders).sort())
})

describe('imports are read from the syntax tree', () => {
  const kinds = (source: string) => readModule(source).imports.map(({ specifier, kind }) => `${kind} ${specifier}`)

  test('static imports and re-exports are values unless the whole statement is a type', () => {
    expect(
      kinds(`import { a } from './a.ts'; import './b.ts'; import * as c from 'c'; export * from './d.ts'`),
    ).toEqual(['value ./a.ts', 'value ./b.ts', 'value c', 'value ./d.ts'])
    expect(kinds(`import type { A } from 'a'; export type { B } from 'b'; export type * from 'c'`)).toEqual([
      'type a',
      'type b',
      'type c',
    ])
    expect(kinds(`import { type A } from 'a'`)).toEqual(['value a'])
  })

  test('import(), require() and type queries are distinguished', () => {
    expect(kinds(`const a = () => import('a'); const b = import(\`b\`)`)).toEqual(['dynamic a', 'dynamic b'])
    expect(kinds(`type A = import('a').A; let b: typeof import('b')`)).toEqual(['type a', 'type b'])
    expect(kinds(`createRequire(import.meta.url)('a'); import b = require('b'); require('c')`)).toEqual([
      'value a',
      'value b',
      'value c',
    ])
  })

  test('augmentations are seen, namespaces and computed specifiers are not', () => {
    expect(kinds(`declare module '../k.ts' { interface A {} }`)).toEqual(['augment ../k.ts'])
    expect(kinds(`declare namespace A {} declare global {} export const a = (x: string) => import(x)`)).toEqual([])
  })

  test('comments, strings and regular expressions are not imports', () => {
    expect(
      kinds(`// import 'a'\n/** import { b } from 'b' */\nconst c = "import 'c'"; const d = /import 'd'\\/\\//`),
    ).toEqual([])
  })

  test('reads of the time of the process are found, and those of the machine by its name', () => {
    const clocks = (source: string) => readModule(source).clocks.map(({ what }) => what)
    expect(clocks('Date.now(); new Date(); performance.now.bind(performance); AbortSignal.timeout(5)')).toEqual([
      'Date.now',
      'new Date()',
      'performance.now',
      'AbortSignal.timeout',
    ])
    expect(clocks(`import { setTimeout as pause } from 'node:timers/promises'; setInterval(() => {}, 5)`)).toEqual([
      'setTimeout',
      'setInterval',
    ])
    expect(clocks('systemClock.now()')).toEqual(['systemClock'])
    expect(
      clocks('new Date(5); clock.now(); clock.setTimeout(run, 5); socket.setTimeout(0); setImmediate(run)'),
    ).toEqual([])
  })

  test('lines and default exports are counted', () => {
    const facts = readModule(`const a = 1\n\nimport 'x'\nexport { a as default }\n`)
    expect(facts.imports).toEqual([{ specifier: 'x', kind: 'value', line: 3 }])
    expect(facts.defaultExports).toEqual([4])
    expect(facts.lines).toBe(3)
    expect(readModule('// a\n/** b\n * c\n */\nconst d = 1 // e\n').lines).toBe(1)
    expect(readModule('export default class A {}').defaultExports).toEqual([1])
  })
})

describe('a breach is found', () => {
  const manifest = { dependencies: { avvio: '1', 'find-my-way': '1', pino: '1' }, peerDependencies: { bullmq: '1' } }
  const allBreaches = (sources: Record<string, string>, companions: string[] = []) => {
    const project = projectOf(sources, manifest, companions)
    return Object.entries(rules).flatMap(([promise, rule]) => rule(project).map((breach) => `${promise}: ${breach}`))
  }
  /** The rules that the sources break, and nothing about the files that are only there to be imported. */
  const broken = (path: string, source: string, others: string[] = []) => {
    const sources = { ...Object.fromEntries(others.map((other) => [other, ''])), [path]: source }
    const project = projectOf(sources, manifest)
    return Object.entries(rules)
      .filter(([, rule]) => rule(project).some((breach) => breach.startsWith(`${path}:`)))
      .map(([promise]) => promise)
  }

  const kernelAlone = 'the kernel knows nothing outside itself, not even types'
  test.each([
    ['plugins/cors/index.ts', `import { cors } from '../../plugins/cors/index.ts'`],
    ['plugins/cors/index.ts', `import type { Cors } from '../../plugins/cors/index.ts'`],
    ['cli/main.ts', `export const main = () => import('../../cli/main.ts')`],
    ['server.ts', `import { Server } from '../../server.ts'`],
    ['index.ts', `export * from '../../index.ts'`],
  ])('kernel → %s by %s', (other, source) => {
    expect(broken('kernel/http/request.ts', source, [other])).toContain(kernelAlone)
  })

  test('packages in the kernel', () => {
    const rule = 'only boot.ts imports avvio, only table.ts find-my-way, and the kernel no other package'
    expect(broken('kernel/kernel.ts', `import avvio from 'avvio'`)).toEqual([rule])
    expect(broken('kernel/routing/collection.ts', `import type { Instance } from 'find-my-way'`)).toEqual([rule])
    expect(broken('kernel/support/logger.ts', `import { pino } from 'pino'`)).toEqual([rule])
    expect(broken('kernel/life/boot.ts', `import avvio from 'avvio'; import 'node:fs'`)).toEqual([])
    expect(broken('kernel/routing/table.ts', `import fmw from 'find-my-way'`)).toEqual([])
    expect(broken('plugins/cors/plugin.ts', `import fmw from 'find-my-way'`)).toEqual([
      'only the kernel imports avvio and find-my-way',
    ])
  })

  const levels = 'no level of the kernel imports upwards, not even types'
  test.each([
    ['kernel/pipeline/dispatch.ts', '../kernel.ts', 'kernel/kernel.ts'],
    ['kernel/plugin/context.ts', '../pipeline/dispatch.ts', 'kernel/pipeline/dispatch.ts'],
    ['kernel/runtime/node/node.ts', '../../routing/route.ts', 'kernel/routing/route.ts'],
    ['kernel/routing/table.ts', '../plugin/hooks.ts', 'kernel/plugin/hooks.ts'],
    ['kernel/http/request/request.ts', '../../routing/params.ts', 'kernel/routing/params.ts'],
    ['kernel/http/raw.ts', '../runtime/adapter.ts', 'kernel/runtime/adapter.ts'],
    ['kernel/support/logger.ts', '../http/raw.ts', 'kernel/http/raw.ts'],
    ['kernel/support/logger.ts', '../options.ts', 'kernel/options.ts'],
    ['kernel/new-level/a.ts', '../http/raw.ts', 'kernel/http/raw.ts'],
    ['kernel/http/raw.ts', '../index.ts', 'kernel/index.ts'],
  ])('%s → %s is upwards, or from nowhere', (path, specifier, other) => {
    expect(broken(path, `import { a } from '${specifier}'`, [other])).toEqual([levels])
    expect(broken(path, `export const a = () => import('${specifier}')`, [other])).toEqual([levels])
    expect(broken(path, `import type { A } from '${specifier}'`, [other])).toEqual([levels])
  })

  const pluginAlone =
    'a plugin imports the entry point of the kernel, the shared rooms and nothing else of the framework'
  test.each([
    ['kernel/http/request.ts', `import { a } from '../../kernel/http/request.ts'`],
    ['kernel/http/request.ts', `import type { A } from '../../kernel/http/request.ts'`],
    ['plugins/json/index.ts', `import { a } from '../json/index.ts'`],
    ['plugins/json/index.ts', `export const a = () => import('../json/index.ts')`],
    ['plugins/catalog.ts', `import { a } from '../catalog.ts'`],
    ['plugins/catalog.ts', `import type { A } from '../catalog.ts'`],
    ['server.ts', `import type { Server } from '../../server.ts'`],
  ])('plugins/cors → %s by %s', (other, source) => {
    expect(broken('plugins/cors/plugin.ts', source, [other])).toContain(pluginAlone)
  })

  test('the allowed imports of a plugin', () => {
    const others = ['kernel/index.ts', 'kernel/http/request.ts', 'plugins/json/index.ts', 'plugins/cors/origin.ts']
    const source = `
      import { definePlugin } from '../../kernel/index.ts'
      import { origin } from './origin.ts'
      import type { Json } from '../json/index.ts'
      import { pino } from 'pino'
      import type { Job } from 'bullmq'
      const load = () => import('bullmq')
      declare module '../../kernel/http/request.ts' { interface Request {} }`
    expect(broken('plugins/cors/plugin.ts', source, others)).toEqual([])
  })

  test('a shared room knows the kernel, lower rooms and no plugin', () => {
    const rule = 'a shared room imports the kernel, the rooms below it and no plugin'
    const redis = 'plugins/shared/stores/redis.ts'
    const others = ['kernel/index.ts', redis, 'plugins/json/index.ts', 'kernel/http/raw.ts']
    const shared = (room: string, source: string, other = redis) =>
      broken(`plugins/shared/${room}/a.ts`, source, [...others, other])
    expect(broken('plugins/cors/plugin.ts', `import { a } from '../shared/stores/redis.ts'`, others)).toEqual([])
    expect(shared('stores', `import { a } from '../../../kernel/http/raw.ts'`)).toEqual([])
    expect(shared('doctor', `import { a } from '../stores/redis.ts'`)).toEqual([])
    expect(shared('values', `import type { A } from '../stores/redis.ts'`)).toEqual([rule])
    expect(shared('stores', `import type { A } from '../../json/index.ts'`)).toEqual([rule])
    expect(broken('kernel/http/a.ts', `import { a } from '../../${redis}'`, others)).toEqual([kernelAlone])
    expect(shared('schema', `import type { A } from '../../../kernel/http/raw.ts'`)).toEqual([
      'the schema room imports nothing of HTTP',
    ])
    const inner = 'plugins/shared/schema/sendable/zod.ts'
    expect(shared('work', `import { a } from '../schema/sendable/zod.ts'`, inner)).toEqual([
      'a shared room is entered through its files, not through its folders',
    ])
    expect(broken('plugins/shared/redis.ts', 'export const a = 1', [])).toEqual([
      'every file of plugins/shared is in a room that has a level',
    ])
  })

  test('the command line is the top', () => {
    expect(broken('server.ts', `import type { A } from './cli/main.ts'`, ['cli/main.ts'])).toEqual([
      'nothing imports the command line',
    ])
    expect(
      broken('cli/main.ts', `import { a } from './list.ts'; import '../server.ts'`, ['cli/list.ts', 'server.ts']),
    ).toEqual([])
  })

  test('a second catalog', () => {
    const others = ['plugins/cors/plugin.ts', 'plugins/cors/origin.ts']
    const rule = 'a plugin folder is loaded by the catalog, the public entry points and the command line only'
    expect(broken('plugins/resolve.ts', `import { cors } from './cors/plugin.ts'`, others)).toEqual([rule])
    expect(broken('server.ts', `export const a = () => import('./plugins/cors/plugin.ts')`, others)).toEqual([rule])
    expect(broken('plugins/resolve.ts', `import type { A } from './cors/plugin.ts'`, others)).toEqual([])
    expect(broken('plugins/catalog.ts', `import { cors } from './cors/plugin.ts'`, others)).toEqual([])
    expect(
      broken('server.ts', `import { mock } from './plugins/testing/index.ts'`, ['plugins/testing/index.ts']),
    ).toEqual([])
    const door = 'a plugin folder is entered through index.ts or plugin.ts'
    expect(broken('plugins/catalog.ts', `import { origin } from './cors/origin.ts'`, others)).toEqual([door])
    const names = ['plugins/cors/public.ts']
    expect(broken('index.ts', `export * from './plugins/cors/public.ts'`, names)).toEqual([])
    expect(broken('plugins/catalog.ts', `export * from './cors/public.ts'`, names)).toEqual([door])
  })

  test('a plugin that the catalog forgot', () => {
    const sources = {
      'plugins/catalog.ts': `import './cors/plugin.ts'`,
      'plugins/cors/plugin.ts': '',
      'plugins/log/plugin.ts': '',
    }
    expect(allBreaches(sources)).toContain(
      'the catalog names every plugin: plugins/catalog.ts does not name plugins/log',
    )
    expect(allBreaches(sources)).not.toContain(
      'the catalog names every plugin: plugins/catalog.ts does not name plugins/cors',
    )
  })

  test('packages', () => {
    const optional = 'optional packages are loaded by import() or named by import type'
    const declared = 'every imported package is declared as a dependency or a peer'
    expect(broken('plugins/queues/plugin.ts', `import { Queue } from 'bullmq'`)).toEqual([optional])
    expect(broken('plugins/queues/plugin.ts', `import { type Queue } from 'bullmq/sub'`)).toEqual([optional])
    expect(broken('plugins/queues/plugin.ts', `import type { A } from '@aws-sdk/client-s3'`)).toEqual([declared])
    expect(broken('plugins/queues/plugin.ts', `import { definePlugin } from 'framework'`)).toEqual([declared])
    expect(broken('plugins/queues/plugin.ts', `import 'fs'`)).toEqual([declared])
  })

  test('the form of a file', () => {
    const relative = 'relative imports carry .ts and lead to a file'
    expect(broken('server.ts', `import './a'`, ['a.ts'])).toEqual([relative])
    expect(broken('server.ts', `import './a.js'`, ['a.ts'])).toEqual([relative])
    expect(broken('server.ts', `import '.'`, ['index.ts'])).toEqual([relative])
    expect(broken('server.ts', 'export default 1')).toEqual(['no module has a default export'])
    expect(allBreaches({ 'server.ts': 'a()\n'.repeat(300) })).toEqual([])
    expect(allBreaches({ 'server.ts': 'a()\n'.repeat(301) })).toEqual([
      'no file but an entry point has more than 300 lines of code: server.ts has 301 lines of code',
    ])
  })

  test('an incomplete plugin folder', () => {
    const whole = { 'plugins/cors/index.ts': '', 'plugins/cors/plugin.ts': '' }
    expect(allBreaches(whole, ['docs/plugins/cors.md', 'test/plugins/cors/origin.test.ts'])).toEqual([])
    expect(allBreaches(whole, ['docs/plugins/cors.md', 'test/plugins/cors.test.ts'])).toEqual([])
    expect(allBreaches(whole, ['docs/plugins/cors.md', 'test/plugins/cors-origin.test.ts'])).toEqual([])
    expect(allBreaches(whole, ['docs/plugins/cors.md', 'test/plugins/corset.test.ts'])).toHaveLength(1)
    expect(allBreaches({ 'plugins/cors/origin.ts': '' })).toHaveLength(4)
  })
})
