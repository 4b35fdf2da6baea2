import { defineError } from '../../kernel/support/errors.ts'

export const PeerMissingError = defineError(
  'PeerMissingError',
  500,
  (feature: string, name: string, install: string) =>
    `${feature} needs the package "${name}", which is not installed. Add it: ${install} ${name}`,
)

/** The install line of whoever runs this process; npm, yarn, pnpm and bun say so in their user agent. */
function installCommand(): string {
  if ('Deno' in globalThis) return 'deno add npm:'
  const agent = process.env.npm_config_user_agent ?? ''
  if ('Bun' in globalThis || agent.startsWith('bun')) return 'bun add'
  if (agent.startsWith('pnpm')) return 'pnpm add'
  return agent.startsWith('yarn') ? 'yarn add' : 'npm install'
}

function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || code === undefined
  // Not when the package is there and something that it needs is not: then its own message tells more.
  return isNotFound && new RegExp(`['"\`](npm:)?${name}(@[^'"\`/]*)?['"\`]`).test(String(message))
}

/**
 * Loads an optional package when a feature starts that needs it.
 *
 * The literal `import()` stays with the caller, so that types and bundlers see it. Only «that very package was not
 * found» becomes `PeerMissingError`; a package that is installed but fails to load throws what it throws.
 *
 * @example
 * const { Redis } = await peer('ioredis', () => import('ioredis'), 'the cache plugin (provider "redis")')
 */
export async function peer<Module>(name: string, load: () => Promise<Module>, feature: string): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw Object.assign(PeerMissingError(feature, name, installCommand()), { cause: error })
  }
}
