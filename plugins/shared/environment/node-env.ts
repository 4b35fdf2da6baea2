import { safely } from '../values/safely.ts'

/**
 * `NODE_ENV` of this process. Where Deno throws because access is not allowed, it counts as production: pages that are open
 * in development stay closed.
 */
export const nodeEnv = (): string | undefined => safely(() => process.env.NODE_ENV, 'production')

/** Whether `NODE_ENV` is meant to be production. For anything that shows users' secrets, which a spelling mistake must not open. */
export const isProduction = (): boolean => /^\s*prod(?:uction)?\s*$/i.test(nodeEnv() ?? '')
