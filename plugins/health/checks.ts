import type { Check } from './options.ts'

async function passes(check: Check, timeout: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeout} ms`)), timeout)
  })
  try {
    return (await Promise.race([check(), late])) !== false
  } finally {
    clearTimeout(timer)
  }
}

/** Runs all checks side by side, each within its time; what failed and why is told apart from the answer. */
export async function runChecks(
  checks: { readonly [name: string]: Check },
  timeout: number,
  onFailure: (name: string, error: unknown) => void,
): Promise<Record<string, 'ok' | 'error'>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        if (await passes(check, timeout)) return [name, 'ok'] as const
        onFailure(name, new Error('it answered false'))
      } catch (error) {
        onFailure(name, error)
      }
      return [name, 'error'] as const
    }),
  )
  return Object.fromEntries(results)
}
