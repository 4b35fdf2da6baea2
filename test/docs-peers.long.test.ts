import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/cli.ts'
import { type Block, markdownBlocks } from './support/docs/blocks.ts'
import { readFolder } from './support/docs/texts.ts'
import { buildIfMissing } from './support/package/tarball.ts'

// The code of other frameworks, and of packages that are not installed here, compiles with the packages themselves: this installs them (200 MB).
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
let folder: string
beforeAll(async () => {
  buildIfMissing()
  folder = mkdtempSync(join(tmpdir(), 'framework-peers-'))
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(root, 'test/peers', file), join(folder, file))
  await promisify(execFile)(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder })
  symlinkSync(root, join(folder, 'node_modules/framework'), 'junction')
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (file: string, text: string) => {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** Writes a block as the file, or the files, whose names its comments say: `// start/routes.ts`. */
function writeBlock(block: Block, at: string, name: string): void {
  const parts = block.code.split(/^\/\/ ([\w/.-]+\.ts)\n/m)
  if (parts.length === 1) write(join(at, name), block.code)
  for (let i = 1; i < parts.length; i += 2) write(join(at, parts[i]!), parts[i + 1]!)
}

test('every block that is left out elsewhere compiles with the packages that it shows', async () => {
  const blocks = readFolder('docs', '.md')
    .flatMap(({ file, text }) => markdownBlocks(file, text))
    .filter(({ skip, noRun }) => (skip !== undefined && skip !== 'shows a mistake') || noRun?.startsWith('needs the'))
  expect(blocks.length).toBeGreaterThan(10)
  const store = readFileSync(join(root, 'docs/examples/moving/store.ts'), 'utf8')
  for (const [i, block] of blocks.entries()) {
    const page = basename(block.file, '.md')
    const isFirst = blocks.findIndex(({ file }) => file === block.file) === i
    const name = page === 'nestjs' ? 'books.module.ts' : 'server.ts'
    writeBlock(block, page, isFirst ? name : 'server.test.ts')
    write(join(page, 'store.ts'), store)
  }
  write('adonisjs/app/services/books.ts', store)
  // What its bootstrap file and its provider of VineJS add.
  write('adonisjs/types.ts', "import '@adonisjs/core/providers/vinejs_provider'\nimport '@japa/api-client'\n")
  write(
    'adonisjs/package.json',
    JSON.stringify({
      type: 'module',
      imports: Object.fromEntries(
        ['controllers', 'exceptions', 'middleware', 'services', 'validators']
          .map((name) => [`#${name}/*`, `./app/${name}/*.ts`])
          .concat([['#start/*', './start/*.ts']]),
      ),
    }),
  )
  write(
    'prisma/generated/prisma/client.ts',
    "import type { PrismaPg } from '@prisma/adapter-pg'\nexport declare class PrismaClient {\n  constructor(options: { adapter: PrismaPg })\n}\n",
  )
  write(
    'tsconfig.json',
    JSON.stringify({
      compilerOptions: {
        ...{ target: 'es2022', module: 'nodenext', strict: true, skipLibCheck: true, noEmit: true, types: ['node'] },
        ...{ allowImportingTsExtensions: true, experimentalDecorators: true, emitDecoratorMetadata: true },
      },
      exclude: ['node_modules'],
    }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const output = await promisify(execFile)(process.execPath, [tsc, '-p', '.'], { cwd: folder }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  expect(output.split('\n').filter((line) => line !== '')).toEqual([])
}, 300_000)
