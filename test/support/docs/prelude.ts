import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Block } from './blocks.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Names that a fragment may use without declaring them, and their values. */
const standIns: Record<string, string> = {
  ctx: 'declare const ctx: import("framework").Context',
  kernel: 'declare const kernel: import("framework/kernel").Kernel',
  pool: 'declare const pool: { query(sql: string): Promise<unknown> }',
  req: 'declare const req: import("framework").Request',
  res: 'declare const res: import("framework").Response',
  next: 'declare const next: import("framework").Next',
  route: 'declare const route: import("framework").Route',
  server: 'declare const server: import("framework").Server',
  options: 'declare const options: { [name: string]: unknown }',
  limitConcurrency: 'declare const limitConcurrency: import("framework").Middleware',
  stringifiers: 'declare const stringifiers: Record<number, (body: unknown) => string>',
}

/** The names that a file declares and exports. */
const declaredIn = (source: string) =>
  [...source.matchAll(/^export (?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm)].map(([, name]) => name!)

const known = new Map<string, string[]>()

/** The names that an entry point exports, values and types alike, read from its source and from the files that it exports as a whole. */
function exportsOf(entryPoint: string): string[] {
  const names = known.get(entryPoint) ?? readExports(entryPoint)
  known.set(entryPoint, names)
  return names
}

function readExports(entryPoint: string): string[] {
  const source = readFileSync(join(root, entryPoint), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const listed = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
    list!
      .split(',')
      .map((name) =>
        name
          .trim()
          .replace(/^type /, '')
          .replace(/^.* as /, ''),
      )
      .filter((name) => name !== ''),
  )
  const whole = [...source.matchAll(/export \* from '([^']+)'/g)].flatMap(([, file]) =>
    exportsOf(join(dirname(entryPoint), file!)),
  )
  return [...new Set([...listed, ...declaredIn(source), ...whole])]
}

const uses = (code: string, name: string) => new RegExp(`(?<![\\w.$'"])${name}(?![\\w$'":]|\\?:)`).test(code)
/** Whether the fragment itself defines the name: as a declaration, an import, or a parameter. */
function declares(code: string, name: string): boolean {
  return [
    `\\b(?:const|let|function|class|interface|type)\\s+${name}\\b`,
    `\\bconst \\{[^}]*\\b${name}\\b[^}]*\\} =`,
    `\\((?:[^()]*,\\s*)?${name}\\s*(?:[:,?=][^()]*)?\\)(?::[^=(]+)?\\s*(?:=>|\\{)`,
    `\\b${name} =>`,
  ].some((pattern) => new RegExp(pattern).test(code))
}

/** The possible imports of a fragment, by specifier: the entry points, and for a docstring its own file. */
function exportsFor(file: string): [specifier: string, names: string[]][] {
  const entryPoints: [string, string[]][] = [
    ['framework', exportsOf('index.ts')],
    ['framework/kernel', exportsOf('plugins/authors.ts')],
    ['framework/plugins', exportsOf('plugins/index.ts')],
  ]
  if (!file.endsWith('.ts') || !existsSync(join(root, file))) return entryPoints
  const source = readFileSync(join(root, file), 'utf8')
  return [...entryPoints, [join(root, file), declaredIn(source)]]
}

/** One line that declares the names that a fragment uses; a block with imports of its own is unchanged. */
export function preludeOf({ code, file }: Pick<Block, 'code' | 'file'>): string {
  if (/^import /m.test(code)) return ''
  const taken = new Set<string>()
  const imports = exportsFor(file).map(([specifier, all]) => {
    const names = all.filter((name) => !taken.has(name) && uses(code, name) && !declares(code, name))
    for (const name of names) taken.add(name)
    return names.length === 0 ? '' : `import { ${names.join(', ')} } from ${JSON.stringify(specifier)}; `
  })
  const declared = Object.entries(standIns)
    .filter(([name]) => !taken.has(name) && uses(code, name) && !declares(code, name))
    .map(([, text]) => `${text}; `)
  return [...imports, ...declared].join('')
}
