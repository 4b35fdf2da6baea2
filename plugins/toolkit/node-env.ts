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
