import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { defineConfig } from 'vitest/config'

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

export default defineConfig({
  plugins: [decorators],
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
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'docs/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**'],
    environment: 'node',
    pool: 'forks',
    // More than the two cores of a small machine: most of the time tests wait, for processes, servers and time limits.
    maxWorkers: 3,
    // Many tests start compilers and runtimes, and a busy machine must not look like a mistake: a quiet one needs a tenth.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 5_000 } },
    teardownTimeout: 10_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
