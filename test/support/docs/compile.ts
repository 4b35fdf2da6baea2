import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTsc } from '../typescript.ts'
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

/** Route options that fragments read. */
const ambient = `import 'framework'
declare module 'framework' {
  interface RouteOptions {
    maxConcurrent?: number
    slowAfter?: number | false
  }
}
`

/**
 * The part of packages that pages use and this project does not install: each brings many others, and Prisma generates its client.
 * docs-peers.long.test.ts compiles the same blocks with the packages themselves.
 */
const packages = `declare module '@prisma/adapter-pg' {
  import type { Pool } from 'pg'
  export class PrismaPg { constructor(pool: Pool) }
}
declare module 'dataloader' {
  export default class DataLoader<Key, Value> {
    constructor(load: (keys: readonly Key[]) => PromiseLike<ArrayLike<Value | Error>>)
    load(key: Key): Promise<Value>
  }
}
declare module 'mongodb' {
  export interface ClientSession { withTransaction<T>(work: () => Promise<T>): Promise<T> }
  export interface Collection<Row> {
    updateOne(filter: object, update: object, options?: { session: ClientSession }): Promise<{ modifiedCount: number }>
    insertOne(row: Omit<Row, '_id'>, options?: { session: ClientSession }): Promise<unknown>
  }
  export interface Db { command(command: object): Promise<object>; collection<Row>(name: string): Collection<Row> }
  export class MongoClient {
    constructor(url: string, options: { [name: string]: number })
    connect(): Promise<this>
    close(): Promise<void>
    db(): Db
    withSession<T>(work: (session: ClientSession) => Promise<T>): Promise<T>
  }
}
declare module '@tus/file-store' {
  export class FileStore { constructor(options: { directory: string; expirationPeriodInMilliseconds?: number }) }
}
declare module '@tus/server' {
  import type { FileStore } from '@tus/file-store'
  export class Server {
    constructor(options: { path: string; datastore: FileStore; maxSize?: number; relativeLocation?: boolean })
    handleWeb(request: Request): Promise<Response>
  }
}
`
const generated = `import type { PrismaPg } from '@prisma/adapter-pg'
export declare class PrismaClient {
  constructor(options: { adapter: PrismaPg })
  $queryRaw(parts: TemplateStringsArray, ...values: unknown[]): Promise<unknown>
  $disconnect(): Promise<void>
}
`

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
export function preludeOf({ code, file }: Block): string {
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

/**
 * Compiles all blocks in one run, each as a module of its own, and returns the compiler's messages about each, with
 * the block's place in the text.
 */
export function compileBlocks(blocks: readonly Block[]): Map<Block, string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'framework-docs-'))
  try {
    mkdirSync(join(folder, 'blocks'))
    // Where the blocks' imports of packages, vitest for example, are found.
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    const names = new Map<string, Block>()
    blocks.forEach((block, index) => {
      const name = `blocks/${index}.ts`
      names.set(name, block)
      writeFileSync(join(folder, name), `${preludeOf(block)}\n${block.code}\nexport {}\n`)
    })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'blocks/ambient.ts'), ambient)
    writeFileSync(join(folder, 'blocks/packages.d.ts'), packages)
    mkdirSync(join(folder, 'blocks/generated/prisma'), { recursive: true })
    writeFileSync(join(folder, 'blocks/generated/prisma/client.ts'), generated)
    // What init creates, for a page that shows the file next to it.
    writeFileSync(join(folder, 'blocks/app.ts'), "export declare function makeServer(): import('framework').Server\n")
    // The variables of the application, which pages show once.
    writeFileSync(join(folder, 'blocks/env.ts'), 'export declare const env: { get(name: string): string }\n')
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noUncheckedIndexedAccess: false,
        verbatimModuleSyntax: false,
        typeRoots: [join(root, 'node_modules/@types')],
      },
      include: ['blocks'],
      exclude: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const { errors, output, ok } = runTsc(['-p', 'tsconfig.json'], folder)
    const found = new Map<Block, string[]>()
    const strange: string[] = []
    for (const [file, messages] of errors) {
      const block = names.get(file)
      // Mistakes in the sources are found by the run over the whole project.
      if (block === undefined && file !== '') continue
      if (block === undefined) strange.push(...messages)
      else
        found.set(
          block,
          messages.map((message) => relocate(message, block)),
        )
    }
    if (strange.length > 0 || (!ok && errors.size === 0)) throw new Error(strange.join('\n') || output)
    return found
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `blocks/3.ts:5:7 error …` → `docs/a.md:41:7 error …`; the first line is the prelude's. */
function relocate(message: string, block: Block): string {
  return message.replace(/^blocks\/\d+\.ts:(\d+):(\d+)/, (_all, line: string, column: string) => {
    return `${block.file}:${block.line + Math.max(0, Number(line) - 2)}:${column}`
  })
}
