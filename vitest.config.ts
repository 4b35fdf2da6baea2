import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'
import { builtModules, sourceOf } from './test/support/run/modules.ts'
import { RandomOrder } from './test/support/run/sequencer.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Vite transforms no decorators of the standard. `?legacy` after an import selects `experimentalDecorators`. */
const decorators = {
  name: 'decorators',
  enforce: 'pre' as const,
  async transform(code: string, id: string) {
    const [file = '', query] = id.split('?')
    if (!file.endsWith('.ts') || !/\/(test|docs)\//.test(file) || !/^\s*@\w+/m.test(code)) return undefined
    const tsconfigRaw = { compilerOptions: { experimentalDecorators: query === 'legacy', verbatimModuleSyntax: true } }
    const result = await transform(code, {
      loader: 'ts',
      target: 'es2022',
      sourcefile: file,
      sourcemap: true,
      tsconfigRaw,
    })
    return { code: result.code, map: result.map }
  },
}

/** Tests that read the pages of the documentation depend on them, so that `--changed` runs them after a change of a page. */
const pages = {
  name: 'pages',
  enforce: 'pre' as const,
  transform(code: string, id: string) {
    if (!/\/test\/(docs|docs-examples|words)\.test\.ts$/.test(id)) return undefined
    return { code: `${code}\nvoid import.meta.glob(['/*.md', '/docs/**/*.md', '!**/node_modules/**'])`, map: null }
  },
  load: (id: string) => (id.endsWith('.md') ? 'export {}' : undefined),
}

/**
 * Imports of the framework load built modules, without vite: 0.15 s of processor time for each file in place of 0.65 s. With
 * `--changed`, and in watch mode, vite has to know who imports what.
 */
const built: Plugin = {
  name: 'built',
  enforce: 'pre',
  async configureVitest({ vitest }) {
    if (vitest.config.watch || vitest.config.changed) return
    modules ??= builtModules()
    // For the processes of tests: test/support/run/built-hooks.mjs.
    process.env.FRAMEWORK_TEST_MODULES = await modules
  },
  async resolveId(source, importer, options) {
    const folder = await modules
    if (folder === undefined || importer === undefined) return undefined
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true })
    const file = resolved && sourceOf(resolved.id)
    return file ? { id: join(folder, file.replace(/\.ts$/, '.mjs')), external: true } : undefined
  },
}
let modules: Promise<string> | undefined

/**
 * Files that run one after the other in the same processes: a process of its own would cost each file one or two seconds of processor time.
 * They keep what they register in routers, servers and options of their own.
 */
const sharing = ['{docs,test}/**/*.test.ts']

/** The same, in processes of their own: files that start the command line, or run it in their process. */
const cli = ['test/cli/**/*.test.ts']

/**
 * Exceptions, which need a process of their own: they count what an allocation costs in it, mark usual names, declare or list classes, which every
 * service of the process takes, or need routes that a module leaves in the router of the process when it is first loaded, or have work
 * that never ends, or stop the timers of the process, in which the work of another file may wait, or change its folder.
 */
const exceptions = [
  'docs/examples/demo/{demo,page,whole}.test.ts',
  'docs/examples/workflows/{server,traces}.test.ts',
  'test/docs-examples.test.ts',
  'test/hot-path.test.ts',
  'test/plugins/cron/{classes,clock,loading}.test.ts',
  'test/plugins/imported-classes-legacy.test.ts',
  'test/plugins/imported-classes.test.ts',
  'test/plugins/marks/*.test.ts',
  'test/plugins/mqtt/{classes,servers}.test.ts',
  'test/plugins/openapi/demo.test.ts',
  'test/plugins/queues/ui.test.ts',
  'test/plugins/validation/cost.test.ts',
  'test/plugins/work/handlers.test.ts',
]

/** Files for which vite loads the sources: they replace a module of the framework, or load one again. */
const onSources = ['test/kernel/runtime/node/{direct,message}.test.ts', 'test/plugins/graphql/copies.test.ts']

/**
 * A worker loads much and keeps little: with 16 MB for new objects, collecting them takes a twelfth of its processor time more, and as much
 * again with a heap that begins small and a thread for each of four helpers.
 */
const execArgv = ['--max-semi-space-size=64', '--initial-old-space-size=512', '--v8-pool-size=1']

/** `npm run test:long` runs these files, and those of conformance on the runtimes that the suite leaves out. */
const long = '**/*.long.test.ts'
const isLong = process.env.FRAMEWORK_TEST_LONG === '1'

/** Examples for other runners, which docs/examples/testing/runners/runners.test.ts starts. */
const ofRunners = 'docs/examples/testing/runners/{node,bun,deno}/**'

const everywhere = ['**/node_modules/**', 'dist/**', ofRunners, ...(isLong ? [] : [long])]

export default defineConfig({
  plugins: [decorators, pages],
  resolve: {
    alias: [
      // Vite would use the package's modules, and Node.js these files: two copies, which do not recognise each other's types.
      { find: /^graphql$/, replacement: path('./node_modules/graphql/index.js') },
      { find: /^framework$/, replacement: path('./index.ts') },
      { find: /^framework\/env$/, replacement: path('./plugins/env/load.ts') },
      { find: /^framework\/contract$/, replacement: path('./plugins/contract/index.ts') },
      { find: /^framework\/kernel$/, replacement: path('./plugins/authors.ts') },
      { find: /^framework\/plugins$/, replacement: path('./plugins/index.ts') },
      { find: /^framework\/plugins\/([^/]+)$/, replacement: `${path('./plugins/')}$1/index.ts` },
      { find: /^framework\/testing$/, replacement: path('./plugins/testing/index.ts') },
      { find: /^framework\/testing\/contracts$/, replacement: path('./test/contracts/index.ts') },
    ],
  },
  test: {
    projects: isLong
      ? [
          {
            extends: true,
            plugins: [built],
            test: { name: 'long', include: [long, 'test/conformance/**/*.test.ts'], exclude: everywhere },
          },
        ]
      : [
          {
            extends: true,
            plugins: [built],
            test: {
              name: 'sharing',
              include: sharing,
              exclude: [...everywhere, ...cli, ...exceptions, ...onSources],
              isolate: false,
              // Applications of examples take the port of the environment, and several files run at once.
              env: { PORT: '0' },
              // The framework imports TypeScript of applications, which imports the framework.
              execArgv: [...execArgv, '--import', path('./test/support/run/built-hooks.mjs')],
              setupFiles: 'test/support/clean-process.ts',
            },
          },
          {
            extends: true,
            plugins: [built],
            test: {
              name: 'cli',
              include: cli,
              exclude: everywhere,
              isolate: false,
              // Each of them starts processes, and an application has ten seconds for its boot.
              maxConcurrency: 4,
              setupFiles: 'test/support/clean-process.ts',
            },
          },
          {
            extends: true,
            plugins: [built],
            test: { name: 'exceptions', include: exceptions, exclude: everywhere, env: { PORT: '0' } },
          },
          { extends: true, test: { name: 'sources', include: onSources, exclude: everywhere } },
        ],
    environment: 'node',
    execArgv,
    sequence: { sequencer: RandomOrder },
    pool: 'forks',
    // Of two workers, two thirds of the time is waiting: for services, limits of time, and programs that end.
    maxWorkers: 8,
    // Cases that run side by side wait for services and limits of time.
    maxConcurrency: 10,
    // Many tests start compilers and runtimes, and a busy machine must not look like a mistake: a quiet one needs a tenth.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    teardownTimeout: 10_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
