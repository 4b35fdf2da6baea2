import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTsc } from '../typescript.ts'
import type { Block } from './blocks.ts'
import { preludeOf } from './prelude.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

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
