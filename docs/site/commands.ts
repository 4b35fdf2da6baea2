/** The package managers of the tabs. */
export const managers = ['npm', 'pnpm', 'yarn', 'bun', 'deno'] as const
export type Manager = (typeof managers)[number]

/** Scripts of this repository, which only npm runs. */
const ownScripts = /^npm (?:ci|start|run (?:new|site|bench|size|reference|rename|lint|format|types|test:long))\b/

const add = { pnpm: 'pnpm add', yarn: 'yarn add', bun: 'bun add', deno: 'deno add' }
const run = { pnpm: 'pnpm', yarn: 'yarn', bun: 'bun run', deno: 'deno task' }

/** Writes a command of npm for another package manager. */
function translate(line: string, manager: Exclude<Manager, 'npm'>): string {
  const packages = /^npm install (.+)$/.exec(line)?.[1]
  if (packages !== undefined)
    return `${add[manager]} ${manager === 'deno' ? packages.replace(/(?<!\S)(?=[@\w])/g, 'npm:') : packages}`
  if (line === 'npm install') return `${manager} install`
  return line.replace(/^npm (?:run )?(\S+)(?: --(?= ))?/, `${run[manager]} $1`)
}

/** Returns the same commands for each package manager, or `undefined` for a block with anything else than commands of a project. */
export function commandsOf(code: string): Readonly<Record<Manager, string>> | undefined {
  const lines = code.split('\n')
  if (!lines.every((line) => /^npm (?:run|install|test)\b/.test(line) && !ownScripts.test(line))) return undefined
  const of = (manager: Exclude<Manager, 'npm'>) => lines.map((line) => translate(line, manager)).join('\n')
  return { npm: code, pnpm: of('pnpm'), yarn: of('yarn'), bun: of('bun'), deno: of('deno') }
}
