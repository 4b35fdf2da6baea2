/**
 * `NODE_ENV` of this process. Where Deno was not told to allow it, for which it throws, this counts as production: what is open
 * while developing stays closed.
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
