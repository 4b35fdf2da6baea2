import { described, type Logger } from '../../../kernel/index.ts'
import { option } from '../options/index.ts'
import { isProduction } from './node-env.ts'

/** The minimum length of a secret in production. */
export const enough = 16
const takes = `a random string of ${enough} characters or more, or a list of them: node -p "crypto.randomBytes(32).toString('base64url')"`

/** An option for signing secrets: one, or a list whose first secret signs. No message or listing shows one. */
export const secrets = option
  .custom<string | readonly string[], readonly string[]>(takes, (given, place) => {
    // Spread, because `map` skips holes.
    const all: readonly unknown[] = Array.isArray(given) ? [...given] : [given]
    const problem = all.length === 0 ? 'an empty list' : all.map(problemOf).find((one) => one !== undefined)
    if (problem === undefined) return all as readonly string[]
    return void place.wrong(described(problem), takes)
  })
  .secret()

function problemOf(secret: unknown): string | undefined {
  if (typeof secret !== 'string') return secret === null ? 'null' : typeof secret
  if (secret.trim() === '') return 'an empty string'
  return isWeak(secret) && isProduction() ? `${secret.length} characters long` : undefined
}

const isWeak = (secret: string) => secret.length < enough

/** Reports short secrets: in production they are an error; elsewhere they are convenient, and a warning reports them. */
export function warnOfWeak(name: string, all: readonly string[], log: Logger): void {
  if (all.some(isWeak)) log.warn(`${name} is short enough to guess and will be refused in production: use ${takes}`)
}
