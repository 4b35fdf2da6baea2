import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^framework$/, replacement: path('./index.ts') },
      { find: /^framework\/kernel$/, replacement: path('./kernel/index.ts') },
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
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 10_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
