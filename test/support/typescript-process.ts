/**
 * The arguments of Node.js for a process that runs TypeScript of a test: it imports the framework from the same built modules as the
 * test itself, in 0.4 s of processor time in place of 1 s.
 */
export const withTypeScript = ['--import', 'tsx', '--import', new URL('run/built-hooks.mjs', import.meta.url).href]
