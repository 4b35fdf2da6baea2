import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project, runIn } from '../support/cli.ts'
import { type Program, startProgram } from '../support/docs/program.ts'
import { files } from './fixtures/built.ts'

const opened: (() => unknown)[] = []
afterAll(async () => {
  for (const close of opened.reverse()) await close()
})

function project(more: Record<string, string> = {}, packages: readonly string[] = []): Project {
  const made = makeProject(more, ['esbuild', ...packages])
  opened.push(() => made.remove())
  return made
}

describe('an application with everything that a build could break', () => {
  let app: Project
  let program: Program
  beforeAll(async () => {
    // Without a type: Node.js would take its .js files for CommonJS.
    app = project({ ...files, 'package.json': '{ "name": "app" }' }, ['graphql', 'node-schedule', 'mustache'])
    const ended = await framework(app.folder, ['build'])
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^\d+ files, [\d.]+ kB, in \d+ ms\. Start it: node --enable-source-maps dist\/index\.js\n$/,
      ),
    ])
    expect(ended.stdout).toMatch(/^dist\/controllers\/books\.js +[\d.]+ kB$/m)
    // As it is deployed: without the sources.
    renameSync(join(app.folder, 'src'), join(app.folder, 'sources'))
    program = await startProgram(
      ['--disable-warning=FRAMEWORK_DEP0001', '--enable-source-maps', 'dist/index.js'],
      {},
      process.execPath,
      app.folder,
    )
    opened.push(() => program.end('SIGKILL'))
  })
  const get = async (path: string) => {
    const answer = await fetch(program.url + path)
    const text = await answer.text()
    return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  }

  test('modules stay the same: one of each, at its place, by alias, without ending, from outside', async () => {
    expect(await get('/')).toEqual({
      text: 'Hello you',
      settings: { colour: 'green' },
      parts: ['de', 'outside', 'server'],
      outside: 'outside',
    })
    expect(await get('/here')).toEqual({ url: 'dist/server.js', folder: 'dist' })
    expect(await get('/late')).toBe('late')
    expect(await get('/locale?l=de')).toBe('Deutsch')
  })

  test('files that globs and paths name below src are found below dist', async () => {
    expect(await get('/books')).toEqual({ class: 'Books', parts: ['de', 'outside', 'server'] })
    expect(await get('/jobs')).toEqual(['nightly'])
    const body = JSON.stringify({ query: '{ hello }' })
    const answer = await fetch(`${program.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(await answer.json()).toEqual({ data: { hello: 'from SDL' } })
    expect(await get('/mail')).toEqual({ sent: ['<p>Welcome Ada</p>\n'], here: '<p>Welcome {{name}}</p>\n' })
    // A browser receives the file that was written for it.
    expect(await get('/files/page.js')).toBe(files['src/public/page.js'])
  })

  test('stacks name the line of the source', async () => {
    const line = files['src/server.ts']!.split('\n').findIndex((one) => one.includes('on purpose')) + 1
    await get('/fail')
    expect(program.output()).toMatch(new RegExp(`src/server\\.ts:${line}:\\d+`))
  })

  test('tests and declarations are left out, and the folder declares the kind of its modules', () => {
    const built = readdirSync(join(app.folder, 'dist'), { recursive: true, encoding: 'utf8' })
    expect(built.filter((name) => /test|\.ts$/.test(name))).toEqual([])
    expect(built).toContain('lib/old.cjs')
    expect(JSON.parse(readFileSync(join(app.folder, 'dist/package.json'), 'utf8'))).toEqual({ type: 'module' })
  })
})

const small = {
  'src/index.ts': "import { value } from './value.js'\nconsole.log(value, new (class Named {})().constructor.name)\n",
  'src/value.ts': "export const value: string = 'built'\n",
}

test('decorators of both protocols, smaller code, no source maps, another folder, JSON', async () => {
  const decorated = (kind: string) => `const seen: unknown[] = []
function mark(...what: unknown[]): void { seen.push(${kind}) }
class Marked { @mark method(): void {} }
console.log(seen[0], Marked.name)
`
  const app = project({
    'src/index.ts': "await import('./legacy/a.ts')\nawait import('./a.ts')\nawait import('./a.ts?again')\nexport {}\n",
    'src/a.ts': decorated('(what[1] as { kind: string }).kind'),
    'src/legacy/tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true } }',
    'src/legacy/a.ts': decorated('what[1]'),
  })
  const ended = await framework(app.folder, ['build', '--minify', '--no-sourcemap', '--out', 'out/app', '--json'])
  expect([ended.code, ended.stderr]).toEqual([0, ''])
  const { main, files: written } = JSON.parse(ended.stdout) as {
    main: string
    files: { path: string; bytes: number }[]
  }
  expect(main).toBe('out/app/index.js')
  expect(written.map(({ path }) => path)).toEqual(
    ['a', 'framework-build', 'index', 'legacy/a'].map((name) => `out/app/${name}.js`),
  )
  expect(readFileSync(join(app.folder, 'out/app/a.js'), 'utf8')).toHaveLength(written[0]!.bytes)
  expect(await runIn(app.folder, [process.execPath, main])).toEqual({
    code: 0,
    stdout: 'method Marked\n'.repeat(3),
    stderr: '',
  })
})

test('files of the last build that this one lacks are removed, and nothing else', async () => {
  const app = project({ ...small, 'src/deep/old.ts': '', 'precious.txt': 'mine' })
  expect((await framework(app.folder, ['build'])).code).toBe(0)
  const manifest = join(app.folder, 'dist/.framework-build.json')
  const { files: made } = JSON.parse(readFileSync(manifest, 'utf8')) as { files: string[] }
  // A list that was bent, and a way out of the folder.
  mkdirSync(join(app.folder, 'elsewhere'))
  writeFileSync(join(app.folder, 'elsewhere/kept.js'), 'mine')
  symlinkSync('../elsewhere', join(app.folder, 'dist/link'))
  const bent = ['../precious.txt', join(app.folder, 'precious.txt'), 'link/kept.js', '', '.', 5]
  writeFileSync(manifest, JSON.stringify({ files: [...made, ...bent] }))
  writeFileSync(join(app.folder, 'dist/own.txt'), 'mine')
  rmSync(join(app.folder, 'src/deep'), { recursive: true })
  const ended = await framework(app.folder, ['build'])
  expect([ended.code, existsSync(join(app.folder, 'dist/deep'))]).toEqual([0, false])
  expect(readdirSync(join(app.folder, 'dist')).filter((name) => name.startsWith('.'))).toEqual([
    '.framework-build.json',
  ])
  for (const file of ['precious.txt', 'elsewhere/kept.js', 'dist/own.txt']) {
    expect(readFileSync(join(app.folder, file), 'utf8')).toBe('mine')
  }
  expect((await runIn(app.folder, [process.execPath, 'dist/index.js'])).stdout).toBe('built Named\n')
})

test('links are followed, a pipe is left out, and the name of a thread is that of the built module', async () => {
  const app = project({
    'src/index.ts': `import { Worker } from 'node:worker_threads'
import { shared } from './linked/shared.ts'
const worker = new Worker(new URL('./jobs/job.ts', import.meta.url))
worker.on('message', (message) => console.log(shared, message, new URL("./none.ts", import.meta.url).pathname.slice(-8)))
`,
    'src/jobs/job.ts': `import { parentPort } from 'node:worker_threads'
parentPort!.postMessage('worked' as string)
`,
    'common/shared.ts': `export const shared: string = 'shared'
`,
    'common/page.hbs': 'page',
  })
  symlinkSync('../common', join(app.folder, 'src/linked'))
  // Round and round.
  symlinkSync('..', join(app.folder, 'src/jobs/up'))
  execFileSync('mkfifo', [join(app.folder, 'src/pipe.txt')])
  const ended = await framework(app.folder, ['build'])
  expect([ended.code, ended.stdout.match(/page\.hbs|pipe\.txt/g)]).toEqual([0, ['page.hbs']])
  rmSync(join(app.folder, 'common'), { recursive: true })
  expect(await runIn(app.folder, [process.execPath, 'dist/index.js'])).toEqual({
    code: 0,
    stdout: 'shared worked /none.ts\n',
    stderr: '',
  })
  const broken = await framework(app.folder, ['build'])
  expect(broken).toEqual({ code: 1, stdout: '', stderr: 'src/linked is a link to a file that does not exist\n' })
})

test('mistakes are reported with their lines, all of them, and the last build stays', async () => {
  const app = project(small)
  expect((await framework(app.folder, ['build'])).code).toBe(0)
  app.write({ 'src/value.ts': "export const value = 'open\n", 'src/other.ts': "import './nowhere.ts'\n" })
  const ended = await framework(app.folder, ['build'])
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toMatch(
    /^src\/other\.ts:1:8: Could not resolve "\.\/nowhere\.ts"\n\n {2}1 │ import '\.\/nowhere\.ts'\n/,
  )
  expect(ended.stderr).toMatch(
    /src\/value\.ts:1:27: Unterminated string literal\n\n[\s\S]*\n2 errors; nothing was written\n$/,
  )
  expect((await runIn(app.folder, [process.execPath, 'dist/index.js'])).stdout).toBe('built Named\n')
})

describe('arguments and existing files', () => {
  let app: Project
  let runner: Runner
  afterAll(() => runner.close())
  beforeAll(() => {
    runner = startRunner()
    app = project({
      ...small,
      'taken/readme.txt': 'mine',
      'file.txt': '',
      'bun/bun.lock': '',
      'bun/package.json': '{}',
      'list/package.json': '[]',
      'list/src/index.ts': '',
      'mark/package.json': '\uFEFF{ "packageManager": { "toString": 1 } }',
      'mark/src/index.ts': '',
      'bun/src/index.ts': '',
    })
    app.write({ 'clash/package.json': '{}', 'clash/src/index.ts': '', 'clash/src/index.js': '' })
    symlinkSync('src', join(app.folder, 'linked'))
  })
  test.concurrent.each([
    [['--out', '.'], 2, '--out . contains the sources: choose a separate folder for the build, for example dist'],
    [['--out', '..'], 2, '--out .. contains the sources: choose a separate folder for the build, for example dist'],
    [['--out', 'src'], 2, '--out src contains the sources: choose a separate folder for the build, for example dist'],
    [
      ['--out', 'linked'],
      2,
      '--out linked contains the sources: choose a separate folder for the build, for example dist',
    ],
    [
      ['--out', 'src/out', '--force'],
      2,
      '--out src/out is inside the sources, so the next build would treat it as source: choose another folder',
    ],
    [
      ['--out', 'node_modules/out'],
      2,
      '--out node_modules/out is in a folder that other tools write to: choose another',
    ],
    [['--out', 'file.txt'], 2, '--out file.txt is a file'],
    [
      ['--out', 'taken'],
      1,
      'taken has files that this command did not create: --force writes next to them, --out chooses another folder',
    ],
    [['--target', 'es5'], 2, '--target takes a version of Node.js, node20 or node22.12, not "es5"'],
    [['--entry', '../no such.ts'], 1, 'the entry ../no such.ts does not exist'],
    [['--mini'], 2, 'build: there is no --mini; did you mean --minify?'],
    [['x', 'y'], 2, 'build: "x" is one argument too many'],
    [[], 1, 'src/index.js and src/index.ts would both become dist/index.js: rename or remove one', 'clash'],
    [
      [],
      1,
      'a build is for Node.js, but this project runs on Bun, which needs none: bun src/index.ts. --force builds anyway',
      'bun',
    ],
    [[], 1, expect.stringMatching(/^\S+list\/package\.json cannot be read: it is not an object\n$/), 'list'],
  ])('%j', async (args, code, message, folder = '.') => {
    const ended = await runner.run(join(app.folder, folder), ['build', ...args])
    expect(ended).toEqual({ code, stdout: '', stderr: typeof message === 'string' ? `${message}\n` : message })
    expect(readdirSync(join(app.folder, 'taken'))).toEqual(['readme.txt'])
  })

  test('with --force it writes between the files of others', async () => {
    expect((await framework(app.folder, ['build', '--out', 'taken', '--force'])).code).toBe(0)
    expect(readFileSync(join(app.folder, 'taken/readme.txt'), 'utf8')).toBe('mine')
    expect((await runner.run(join(app.folder, 'bun'), ['build', '-f'])).code).toBe(0)
  })

  test('a package.json with a byte order mark is read', async () => {
    expect(await runner.run(join(app.folder, 'mark'), ['build'])).toMatchObject({ code: 0 })
    expect(existsSync(join(app.folder, 'mark/dist/package.json'))).toBe(true)
  })
})

test('a function that is called like its constant keeps its name, built and translated, minified or not', async () => {
  const app = project({
    'src/server.ts': `import { Server } from 'framework'
export const slow = function slow(_req: unknown, _res: unknown, next: () => unknown) { return next() }
export const server = new Server({ plugins: [slow as never] })
server.get('/', () => 'here')
`,
    'src/index.ts': "import { server } from './server.ts'\nawait server.listen()\n",
  })
  const steps = async (entry: string) => (await framework(app.folder, ['explain', 'GET', '/', '--entry', entry])).stdout
  expect(await steps('src/server.ts')).toMatch(/ slow +by slow$/m)
  for (const flags of [[], ['--minify']]) {
    expect((await framework(app.folder, ['build', '--force', ...flags])).code).toBe(0)
    expect(await steps('dist/server.js')).toMatch(/ slow +by slow$/m)
  }
})

test('keys and files of secrets are not copied, and named', async () => {
  const secrets = [
    'certs/tls.pem',
    'certs/TLS.KEY',
    'keys/jwt.p8',
    'keys/id_ed25519',
    'prod.env',
    'app.env.local',
    'public/apple.p12',
  ]
  const app = project({
    'src/index.ts': "import { name } from './config.env.ts'\nconsole.log(name)\n",
    'src/config.env.ts': "export const name = 'module'\n",
    'src/certs/ca.crt': 'public',
    ...Object.fromEntries(secrets.map((name) => [`src/${name}`, 'secret'])),
  })
  const ended = await framework(app.folder, ['build', '--json'])
  const { files, leftOut } = JSON.parse(ended.stdout) as { files: { path: string }[]; leftOut: string[] }
  expect(leftOut).toEqual(secrets.map((name) => `src/${name}`).sort())
  expect(ended.stderr).toContain('not copied, because they may contain secrets: src/app.env.local, src/certs/TLS.KEY')
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['dist/certs/ca.crt', 'dist/config.env.js']))
  for (const name of secrets) expect(existsSync(join(app.folder, 'dist', name))).toBe(false)
})
