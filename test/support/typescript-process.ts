/**
 * The arguments of Node.js for a process that runs TypeScript of a test: it imports the framework from the same built modules as the
 * test itself, and what else it has was compiled by the first such process. Without these modules, in watch mode, `tsx` compiles the sources.
 */
export const withTypeScript =
  process.env.FRAMEWORK_TEST_MODULES === undefined
    ? ['--import', 'tsx']
    : ['--import', new URL('run/built-hooks.mjs', import.meta.url).href]
