/**
 * `NODE_ENV` of this process. Where Deno throws because it is not allowed, this counts as production: pages that are open
 * in development stay closed.
 */
export function nodeEnv(): string | undefined {
  try {
    return process.env.NODE_ENV
  } catch {
    return 'production'
  }
}

/** Whether `NODE_ENV` is meant to say production. For what shows secrets of users, and so must not be open for a spelling. */
export const isProduction = (): boolean => /^\s*prod(?:uction)?\s*$/i.test(nodeEnv() ?? '')
