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
 * Folders whose files run one after the other in the same processes: a process of its own would cost each file 0.3 s of processor
 * time. They keep what they register in routers, servers and options of their own.
 */
const sharing = ['test/{conformance,kernel,plugins}/**/*.test.ts']

/** The same, in processes of their own: examples declare queues and figures for their process, which tests of plugins would find. */
const examples = ['docs/**/*.test.ts']

/** The same: files that start the command line, or run it in their process. */
const cli = ['test/cli/**/*.test.ts']

/** Of these folders, those whose files have a process of their own. */
const apart = ['test/plugins/queues/**/*.test.ts']

/**
 * Exceptions in these folders, which need a process of their own: they replace modules or timers, load routes into the router of the process, count
 * what it has, measure its memory or what an allocation costs in it, listen to its events, set what it has once, or declare classes, which every later service of the process takes.
 */
const exceptions = [
  'docs/examples/{background,database,demo,observability}/*.test.ts',
  'docs/examples/workflows/*.test.ts',
  'test/kernel/life/shutdown.test.ts',
  'test/plugins/cache/cache.test.ts',
  'test/plugins/cache/safety.test.ts',
  'test/plugins/closed-servers.test.ts',
  'test/plugins/contract/runtimes.test.ts',
  'test/plugins/cron/classes.test.ts',
  'test/plugins/cron/clock.test.ts',
  'test/plugins/cron/loading.test.ts',
  'test/plugins/database/{messages,outbox,outbox-listen,pgboss}.test.ts',
  'test/plugins/graphql/marks.test.ts',
  'test/plugins/health/health.test.ts',
  'test/plugins/health/postgres.test.ts',
  'test/plugins/imported-classes-legacy.test.ts',
  'test/plugins/imported-classes.test.ts',
  'test/plugins/inspector/edited.test.ts',
  'test/plugins/inspector/redis.test.ts',
  'test/plugins/marks/*.test.ts',
  'test/plugins/metrics/open-telemetry.test.ts',
  'test/plugins/mqtt/classes.test.ts',
  'test/plugins/mqtt/servers.test.ts',
  'test/plugins/openapi/demo.test.ts',
  'test/plugins/openapi/missing.test.ts',
  'test/plugins/policy/resource.test.ts',
  'test/plugins/tenant/tenant.test.ts',
  'test/plugins/testing/boots.test.ts',
  'test/plugins/testing/test-server.test.ts',
  'test/plugins/testing/twins.test.ts',
  'test/plugins/together.test.ts',
  'test/plugins/validation/cost.test.ts',
  'test/plugins/work/handlers.test.ts',
]

/** Files for which vite loads the sources: the framework imports TypeScript of theirs, or they replace a module that it imports or load one again. */
const onSources = [
  'docs/examples/controllers/server.test.ts',
  'test/docs-examples.test.ts',
  'test/kernel/runtime/node/direct.test.ts',
  'test/kernel/runtime/node/message.test.ts',
  'test/plugins/controllers/files.test.ts',
  'test/plugins/graphql/copies.test.ts',
  'test/plugins/mqtt/mqtt.test.ts',
]

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
              exclude: [...everywhere, ...apart, ...exceptions, ...onSources],
              isolate: false,
              setupFiles: 'test/support/clean-process.ts',
            },
          },
          {
            extends: true,
            plugins: [built],
            test: {
              name: 'examples',
              include: examples,
              exclude: [...everywhere, ...exceptions, ...onSources],
              isolate: false,
              // Applications of examples take the port of the environment, and several files run at once.
              env: { PORT: '0' },
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
              setupFiles: 'test/support/clean-process.ts',
            },
          },
          {
            extends: true,
            plugins: [built],
            test: {
              name: 'alone',
              include: ['test/*.test.ts', 'test/{benchmarks,support,types}/**/*.test.ts', ...apart],
              exclude: [...everywhere, ...onSources],
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
    // A worker loads much and keeps little: with 16 MB for new objects, collecting them takes a twelfth of its processor time more.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: RandomOrder },
    pool: 'forks',
    // Of two workers, half of the time is waiting: for services, limits of time, and programs that end.
    maxWorkers: 4,
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
