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
