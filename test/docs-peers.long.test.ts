import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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

test('the recipe of tus resumes an upload whose connection was lost', async () => {
  const page = 'docs/recipes/tus.md'
  const [block] = markdownBlocks(page, readFileSync(join(root, page), 'utf8'))
  const at = join(folder, 'resumed')
  writeBlock(block!, 'resumed', 'recipe.ts')
  write(
    'resumed/script.ts',
    `import { Server } from 'framework'
import { bearer } from 'framework/plugins/auth'
import './recipe.ts'

const people = new Map([['key-of-ada', { id: 'ada' }]])
const plugins = { json: true, auth: { schemes: { key: bearer((token) => people.get(token)) } } }
const server = new Server({ port: 0, host: '127.0.0.1', plugins })
await server.listen()
const headers = { authorization: 'Bearer key-of-ada', 'tus-resumable': '1.0.0' }
const create = (more: object) =>
  fetch(new URL('/files', server.url), { method: 'POST', headers: { ...more, 'tus-resumable': '1.0.0', 'upload-length': '10' } })
const refused = (await create({})).status
const created = await create(headers)
const url = new URL(created.headers.get('location')!, server.url)
const patch = (offset: number, body: BodyInit) => {
  const type = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) }
  return fetch(url, { method: 'PATCH', headers: { ...headers, ...type }, body, duplex: 'half' } as RequestInit)
}
const offset = async () => Number((await fetch(url, { method: 'HEAD', headers })).headers.get('upload-offset'))

// The connection ends after four bytes.
const half = new ReadableStream({
  start(controller) {
    controller.enqueue(new TextEncoder().encode('abcd'))
    setTimeout(() => controller.error(new Error('lost')), 500)
  },
})
const lost = await patch(0, half).catch((error) => error.name)
let arrived = 0
while (arrived < 4) arrived = await offset()
const rest = await patch(arrived, 'efghij')
console.log(JSON.stringify({ refused, created: created.status, lost, arrived, rest: rest.status, all: await offset() }))
await server.close()
process.exit(0)
`,
  )
  const tsx = join(root, 'node_modules/tsx/dist/loader.mjs')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', tsx, 'script.ts'], { cwd: at })
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({
    ...{ refused: 401, created: 201, lost: 'TypeError', arrived: 4, rest: 204, all: 10 },
  })
  const file = readdirSync(join(at, 'storage/uploads')).find((name) => !name.endsWith('.json'))!
  expect(readFileSync(join(at, 'storage/uploads', file), 'utf8')).toBe('abcdefghij')
}, 300_000)
