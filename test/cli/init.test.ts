import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packageNameFrom, whyNoPackageName } from '../../cli/init/package-name.ts'
import manifest from '../../package.json' with { type: 'json' }
import { type Runner, startRunner } from '../support/cli/many.ts'
import { framework, installAlone, makeProject, root, runIn } from '../support/cli.ts'

/** What is typed. */
const [program = ''] = Object.keys(manifest.bin)

let runner: Runner
let folder: string
beforeAll(() => {
  // Who commits; not everyone has configured git.
  const [name, email] = ['Ada', 'ada@example.org']
  runner = startRunner({
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  })
})
afterAll(() => runner.close())
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'framework-init-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const init = (...argv: string[]) => runner.run(folder, ['init', ...argv])
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const readJson = (file: string) => JSON.parse(read(file)) as Record<string, Record<string, string>>
const filesIn = (place = '.') =>
  readdirSync(join(folder, place), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, place).length + 1))
    .sort()

const always = ['.env', '.env.example', '.env.test', '.gitignore', 'README.md', 'package.json']
const modules = ['env', 'index', 'logger', 'server', 'server.test'].map((name) => `src/${name}.ts`)

describe('a new project', () => {
  test('is in the named folder, and the next steps are printed', async () => {
    const { code, stdout, stderr } = await init('apps/my-app')
    expect(code).toBe(0)
    expect(filesIn('apps/my-app')).toEqual([...always, ...modules, 'tsconfig.json', 'vitest.config.ts'].sort())
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual(
      expect.arrayContaining(['created  package.json', 'created  src/server.ts']),
    )
    expect(stderr).toBe('\nNext:\n  cd apps/my-app\n  npm install\n  npm run dev\n')
    // While developing, and never in production.
    expect(read('apps/my-app/src/server.ts')).toContain(`exposeErrorDetails: 'auto'`)
    expect(readJson('apps/my-app/package.json')).toMatchObject({
      name: 'my-app',
      private: true,
      type: 'module',
      engines: { node: '>=20.19' },
      dependencies: { [manifest.name]: `file:${relative(join(folder, 'apps/my-app'), root)}` },
    })
  })

  test('has the packages of the optional parts, in the versions with which the framework is tested', async () => {
    await init('app', '-m', '-c', '-g', '--framework', '1.2.3')
    const { dependencies, devDependencies } = readJson('app/package.json')
    const { [manifest.name]: own, ...others } = dependencies!
    expect(own).toBe('1.2.3')
    expect(Object.keys(others)).toEqual(['@graphql-tools/schema', 'graphql', 'mqtt', 'node-schedule'])
    expect(Object.keys(devDependencies!)).toEqual(['@types/node', 'esbuild', 'typescript', 'vitest'])
    for (const [name, version] of Object.entries({ ...others, ...devDependencies })) {
      expect([name, version]).toEqual([name, manifest.devDependencies[name as keyof typeof manifest.devDependencies]])
    }
    expect(filesIn('app')).toEqual(
      expect.arrayContaining(['src/crons/heartbeat.ts', 'src/graphql/schema.ts', 'src/mqtt/temperatures.ts']),
    )
  })

  test('has their dependencies in versions for every supported Node.js', async () => {
    const pins = { '@whatwg-node/promise-helpers': '^1.3.2' }
    await init('on-npm', '-g')
    await init('on-yarn', '-g', '--pm', 'yarn')
    await init('on-pnpm', '-g', '--pm', 'pnpm')
    expect(readJson('on-npm/package.json')).toMatchObject({ overrides: pins })
    expect(readJson('on-yarn/package.json')).toMatchObject({ resolutions: pins })
    expect(read('on-pnpm/pnpm-workspace.yaml')).toMatch(
      /^overrides:\n {2}'@whatwg-node\/promise-helpers': '\^1\.3\.2'$/m,
    )
  })

  test.each([
    ['npm', `${program} serve`, 'tsconfig.json', 'npm run dev'],
    ['pnpm', `${program} serve`, 'pnpm-workspace.yaml', 'pnpm dev'],
    ['yarn', `${program} serve`, '.yarnrc.yml', 'yarn dev'],
    ['bun', 'bun node_modules/framework/dist/cli/index.js serve', 'tsconfig.json', 'bun run dev'],
    ['deno', 'deno run -A node_modules/framework/dist/cli/index.js serve', 'deno.json', 'deno task dev'],
  ])('has the form of %s', async (pm, dev, file, next) => {
    const { code, stderr } = await init('app', '--pm', pm)
    expect([code, stderr.trimEnd().split('\n').slice(-2)]).toEqual([0, [`  ${pm} install`, `  ${next}`]])
    expect(filesIn('app')).toContain(file)
    const { scripts, tasks } = { ...readJson('app/package.json'), ...(pm === 'deno' && readJson('app/deno.json')) }
    expect((scripts ?? tasks)!.dev).toBe(dev)
    expect(read('app/README.md')).toContain(`\`${next}\``)
  })

  test('has the form of the package manager that has called', async () => {
    const env = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v22.0.0 linux x64', CI: '' }
    const { code, stderr } = await framework(folder, ['init', 'app'], env)
    expect([code, stderr]).toEqual([0, '\nNext:\n  cd app\n  pnpm install\n  pnpm dev\n'])
  })

  test('asks for a tarball or a folder as seen from it', async () => {
    writeFileSync(join(folder, 'framework-1.tgz'), '')
    await init('apps/a', '--framework', 'framework-1.tgz')
    await init('apps/b', '--framework', join(folder, 'framework-1.tgz'))
    expect(readJson('apps/a/package.json').dependencies![manifest.name]).toBe('file:../../framework-1.tgz')
    expect(readJson('apps/b/package.json').dependencies![manifest.name]).toBe('file:../../framework-1.tgz')
  })

  test('asks for it where the project around has it from, and for its name alone where that is the registry', async () => {
    const project = makeProject()
    installAlone(project)
    const command = [process.execPath, 'node_modules/framework/dist/cli/index.js', 'init', '--yes', '--skip-git']
    const askedFor = async (name: string, spec: string, ...more: string[]) => {
      project.write({ 'package.json': JSON.stringify({ dependencies: { [manifest.name]: spec } }) })
      expect((await runIn(project.folder, [...command, name, ...more])).code).toBe(0)
      const read = (file: string) => JSON.parse(readFileSync(join(project.folder, name, file), 'utf8'))
      return {
        spec: read('package.json').dependencies[manifest.name],
        ...(more.length > 0 && { links: read('deno.json').links }),
      }
    }
    try {
      const spec = 'file:vendor/framework-0.1.0.tgz'
      expect(await askedFor('apps/a', spec)).toEqual({ spec: 'file:../../vendor/framework-0.1.0.tgz' })
      expect(await askedFor('b', '^0.1.0')).toEqual({ spec: `^${manifest.version}` })
      const links = ['../node_modules/framework']
      expect(await askedFor('c', spec, '--pm', 'deno')).toEqual({ spec: `^${manifest.version}`, links })
    } finally {
      project.remove()
    }
  })
})

describe('a folder that is not empty', () => {
  test('may have the files of a new repository, which stay', async () => {
    mkdirSync(join(folder, 'app/.git'), { recursive: true })
    writeFileSync(join(folder, 'app/README.md'), '# mine\n')
    writeFileSync(join(folder, 'app/LICENSE'), 'MIT')
    writeFileSync(join(folder, 'app/.gitignore'), '*.log\r\n/node_modules')
    const { code, stdout } = await runner.run(join(folder, 'app'), ['init', '.'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^kept {2}README\.md$/m)
    expect(stdout).toMatch(/^updated {2}\.gitignore$/m)
    expect(read('app/README.md')).toBe('# mine\n')
    expect(read('app/.gitignore')).toBe('*.log\r\n/node_modules\r\ndist/\r\n.env\r\n.env.local\r\n.env.*.local\r\n')
  })

  test('with files that would be overwritten is left as it is, and they are named', async () => {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'package.json'), '{}')
    writeFileSync(join(folder, 'src/env.ts'), 'mine')
    writeFileSync(join(folder, 'src/server.ts'), 'mine')
    const { code, stdout, stderr } = await init('--name', 'app')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe('src/server.ts, src/env.ts already exist: nothing was written; --force overwrites\n')
    expect([filesIn(), read('package.json')]).toEqual([['package.json', 'src/env.ts', 'src/server.ts'], '{}'])
    expect((await init('--name', 'app', '--force')).code).toBe(0)
    expect(read('src/server.ts')).toContain('new Server')
  })

  // As after "npm init -y" and "npm install framework", without which there is no "npx framework" of a certain version.
  test('may have a package.json, which receives its missing members', async () => {
    const theirs = {
      name: 'My Shop',
      version: '3.0.0',
      scripts: { test: 'echo "Error: no test specified" && exit 1', start: 'node .' },
      type: 'commonjs',
      dependencies: { [manifest.name]: 'file:../framework', zod: '^4.0.0' },
      devDependencies: { typescript: '5.9.0' },
      allowScripts: { sharp: true },
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(theirs, null, '\t'))
    writeFileSync(join(folder, 'tsconfig.json'), '{}')
    const { code, stdout } = await init('-c')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^updated {2}package\.json\nkept {2}tsconfig\.json$/m)
    expect([read('tsconfig.json'), read('README.md')]).toEqual(['{}', expect.stringMatching(/^# My Shop\n/)])
    const { scripts, dependencies, devDependencies, allowScripts, ...others } = readJson('package.json')
    expect(others).toEqual({ name: 'My Shop', version: '3.0.0', type: 'module' })
    expect(scripts).toMatchObject({ dev: `${program} serve`, test: 'vitest run', start: 'node .' })
    expect(dependencies).toMatchObject(theirs.dependencies)
    expect(Object.keys(dependencies!)).toEqual(['framework', 'node-schedule', 'zod'])
    expect(devDependencies).toMatchObject({ typescript: '5.9.0', vitest: expect.any(String) })
    expect(allowScripts).toEqual({ esbuild: false, sharp: true })
    expect(read('package.json')).toMatch(/^\{\n\t"name"/)

    const again = await init('-c')
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^unchanged {2}package\.json$/m)])
  })

  test.each(['{', '[]', 'null'])('has an invalid package.json: %s', async (text) => {
    writeFileSync(join(folder, 'package.json'), text)
    const { code, stderr } = await init()
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^\S+\/package\.json cannot be read: .*\n$/)])
    expect(filesIn()).toEqual(['package.json'])
  })

  test('may have a name that no package has', async () => {
    for (const [place, name] of [
      ['My App', 'my-app'],
      ['framework-Xy3', 'framework-xy3'],
      ['日本', 'my-app'],
    ] as const) {
      mkdirSync(join(folder, place))
      expect((await runner.run(join(folder, place), ['init'])).code).toBe(0)
      expect(readJson(join(place, 'package.json')).name).toBe(name)
    }
  })

  test('a second run changes nothing', async () => {
    await init('app', '-g')
    const { code, stdout } = await init('app', '-g')
    expect(code).toBe(0)
    expect(
      new Set(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.split(' ')[0]),
      ),
    ).toEqual(new Set(['unchanged']))
  })

  test('with a server receives only the files beside the code, unchanged', async () => {
    await init('--pm', 'pnpm', '-m')
    writeFileSync(join(folder, 'src/server.ts'), 'mine')
    writeFileSync(join(folder, 'pnpm-lock.yaml'), '')
    rmSync(join(folder, 'README.md'))
    mkdirSync(join(folder, 'vendor'))
    writeFileSync(join(folder, '.editorconfig'), 'mine')
    const before = filesIn()
    const { code, stdout, stderr } = await init('.', '--container', '--editor')
    expect([code, stderr]).toEqual([
      0,
      'src/server.ts already exists: only the files of --container and --editor are added.\n',
    ])
    expect(stdout.match(/^(created|kept) .*$/gm)).toEqual([
      ...['Dockerfile', '.dockerignore', 'compose.yaml'].map((file) => `created  ${file}`),
      'kept  .editorconfig',
      ...['settings', 'launch'].map((file) => `created  .vscode/${file}.json`),
    ])
    const more = ['.dockerignore', '.vscode/launch.json', '.vscode/settings.json', 'Dockerfile', 'compose.yaml']
    expect([filesIn(), read('src/server.ts')]).toEqual([[...before, ...more].sort(), 'mine'])
    expect(read('Dockerfile')).toContain('COPY vendor ./vendor\nRUN corepack enable && pnpm install')
    expect(read('compose.yaml')).toContain('mosquitto')
    // A part is more than its folder: it would be in the server.
    expect((await init('.', '--container', '-g')).stderr).toContain('already exist: nothing was written')
  })

  test('a file in its place, a link out of it and a place that cannot be written are reported', async () => {
    writeFileSync(join(folder, 'file'), '')
    mkdirSync(join(folder, 'app'))
    symlinkSync(tmpdir(), join(folder, 'app/src'))
    for (const [place, reports] of [
      ['file', /^file is a file, not a folder: nothing was written\n$/],
      ['file/app', /^file is a file, not a folder: nothing was written\n$/],
      ['app', /^src\/index\.ts is outside .*app: nothing was written\n$/],
      ['/proc/app', /^nothing was written: E.*\n$/],
    ] as const) {
      const { code, stderr } = await init(place)
      expect([place, code, stderr]).toEqual([place, 1, expect.stringMatching(reports)])
    }
    expect(readdirSync(join(folder, 'app'))).toEqual(['src'])
  })

  test('within a project it is a part of it, and a note says so', async () => {
    writeFileSync(join(folder, 'package.json'), '{}')
    writeFileSync(join(folder, 'yarn.lock'), '')
    const { code, stderr } = await init('packages/api')
    expect([code, stderr]).toEqual([0, expect.stringContaining(`It is within the project ${folder}`)])
    expect(stderr).toContain('yarn install')
    expect(filesIn('packages/api')).not.toContain('.yarnrc.yml')
    expect((await init('packages/web', '--pm', 'pnpm')).stderr).toContain('allowBuilds: { esbuild: false }')
    expect(filesIn('packages/web')).not.toContain('pnpm-workspace.yaml')
  })
})

describe('invalid arguments are reported in one line, and nothing is written', () => {
  test.each([
    [
      ['a b'],
      2,
      '"a b" cannot be the name of a package: it takes the letters a to z, digits, - . and _, a letter or digit first, and "@scope/" before that; --name a-b would do',
    ],
    [['MyApp'], 2, '"MyApp" cannot be the name of a package: it has upper-case letters; --name my-app would do'],
    [
      ['node_modules'],
      2,
      '"node_modules" cannot be the name of a package: "node_modules" is taken: npm, Node.js or the project itself already uses that name; --name <name> gives another',
    ],
    [['__proto__'], 2, /^"__proto__" cannot be the name of a package: .*; --name proto would do$/],
    [['日本'], 2, /^"日本" cannot be the name of a package: .*; --name <name> gives another$/],
    [['app', '--name', '../x'], 2, /^"\.\.\/x" cannot be the name of a package: /],
    [['app', '--name', manifest.name], 2, new RegExp(`"${manifest.name}" is taken`)],
    [['app', '--pm', 'cargo'], 2, '--pm takes npm, pnpm, yarn, bun or deno, not "cargo"'],
    [['app', '--framework', './no.tgz'], 2, '--framework: ./no.tgz does not exist'],
    [
      ['app', '--framework', './a.tgz', '--pm', 'deno'],
      2,
      /^--framework: Deno does not support a tarball such as .\/a.tgz: pass the folder of the package$/,
    ],
    [['app', '--framework', '1;rm'], 2, '--framework takes a version, a tarball or a folder, not "1;rm"'],
    [['app', 'more'], 2, 'init: "more" is one argument too many'],
    [['app', '--database', 'oracle'], 2, '--database takes sqlite, postgres or mysql, not "oracle"'],
    [['app', '--mqt'], 2, 'init: there is no --mqt; did you mean --mqtt?'],
    [['app', '--name'], 2, 'init: --name needs a value'],
  ])('%j', async (argv, code, reports) => {
    const { stderr, ...ended } = await init(...argv)
    expect(ended).toEqual({ code, stdout: '' })
    expect(stderr).toMatch(/^.*\n$/)
    expect(stderr.trimEnd()).toEqual(typeof reports === 'string' ? reports : expect.stringMatching(reports))
    expect(filesIn()).toEqual([])
  })
})

test('--dry-run and --json print the plan, and write nothing', async () => {
  const { code, stdout } = await init('app', '--name', '@me/app', '-m', '--dry-run', '--json')
  expect(code).toBe(0)
  const { files, ...about } = JSON.parse(stdout) as { files: unknown[] }
  expect(about).toEqual({
    folder: join(folder, 'app'),
    name: '@me/app',
    packageManager: 'npm',
    parts: ['mqtt'],
    dryRun: true,
  })
  expect(files).toContainEqual({ path: 'src/mqtt/temperatures.ts', action: 'created' })
  expect(existsSync(join(folder, 'app'))).toBe(false)
})

test('--git makes a repository with a first commit, which leaves out installed and secret files', async () => {
  const { code } = await init('app', '--git')
  expect([code, existsSync(join(folder, 'app/.git/HEAD'))]).toEqual([0, true])
  expect(read('app/.gitignore')).toBe('node_modules/\ndist/\n.env\n.env.local\n.env.*.local\n')
  const head = await runIn(join(folder, 'app'), ['git', 'show', '--format=%s', '--name-only', 'HEAD'])
  const [message, , ...committed] = head.stdout.trim().split('\n')
  expect([message, committed.includes('src/server.ts'), committed.includes('.env')]).toEqual([
    'First commit',
    true,
    false,
  ])
})

test('--git within a hook of another repository commits into that of the new project', async () => {
  const other = join(folder, 'other')
  mkdirSync(other)
  await runIn(other, ['git', 'init', '--quiet'])
  const { code } = await framework(folder, ['init', 'app', '--git'], { GIT_DIR: join(other, '.git') })
  expect([code, existsSync(join(folder, 'app/.git/HEAD'))]).toEqual([0, true])
  expect((await runIn(other, ['git', 'log', '-1'])).code).not.toBe(0)
})

test.each([
  ['npm', 'FROM node:24-slim AS build', 'CMD ["node", "--enable-source-maps", "dist/index.js"]'],
  ['pnpm', 'RUN corepack enable && pnpm install --frozen-lockfile', 'RUN pnpm build && pnpm prune --prod'],
  ['yarn', 'COPY package.json yarn.lock* .yarnrc.yml* ./', 'RUN yarn install --frozen-lockfile'],
  ['bun', 'FROM oven/bun:1', 'CMD ["bun", "src/index.ts"]'],
  ['deno', 'FROM denoland/deno:2', 'CMD ["deno", "run", "-A", "src/index.ts"]'],
])('what lies beside the code on request, for %s', async (pm, ...lines) => {
  const { code } = await init('app', '--container', '--agents', '--editor', '-m', '--pm', pm)
  expect(code).toBe(0)
  const text = read('app/Dockerfile')
  expect(text.split('\n')).toEqual(expect.arrayContaining(lines))
  // The framework is that of the clone, which no build sees.
  expect(text).not.toContain('COPY vendor')
  expect(read('app/.dockerignore')).toMatch(/^\.env$/m)
  expect(read('app/compose.yaml')).toContain('MQTT_URL: mqtt://mosquitto:1883')
  expect(read('app/AGENTS.md')).toContain('`node_modules/framework/docs`')
  expect(read('app/.vscode/settings.json').includes('deno')).toBe(pm === 'deno')
})

test.each([
  ['sqlite', 'sqlite:database.sqlite', 'sqlite::memory:', 'sqlite:storage/database.sqlite'],
  [
    'postgres',
    'postgres://postgres@127.0.0.1:5432/postgres',
    'postgres://postgres@127.0.0.1:5432/postgres',
    'pg_isready',
  ],
  ['mysql', 'mysql://root@127.0.0.1:3306/app', 'mysql://root@127.0.0.1:3306/app', 'mysqladmin ping'],
])('--database %s: the plugin, a migration, the address, and a service that migrates', async (kind, url, inTests, inContainer) => {
  const { code, stderr } = await init('app', '--database', kind, '--container')
  expect([code, stderr]).toEqual([
    0,
    '\nNext:\n  cd app\n  npm install\n  npm run framework -- migrate\n  npm run dev\n',
  ])
  expect(read('app/src/server.ts')).toContain('database: databaseOptions(),')
  expect(read('app/src/database.ts')).toContain('migrations: sqlMigrations(steps)')
  expect(read('app/src/env.ts')).toContain('DATABASE_URL: schema.string({ secret: true })')
  for (const file of ['app/.env', 'app/.env.example']) expect(read(file)).toContain(`DATABASE_URL=${url}\n`)
  expect(read('app/.env.test')).toContain(`DATABASE_URL=${inTests}\n`)
  expect(read('app/.gitignore').includes('/database.sqlite*')).toBe(kind === 'sqlite')
  const dependencies = Object.keys(readJson('app/package.json').dependencies!)
  expect([dependencies.includes('pg'), dependencies.includes('mysql2')]).toEqual([
    kind === 'postgres',
    kind === 'mysql',
  ])
  const compose = read('app/compose.yaml')
  expect(compose).toContain(inContainer)
  expect(compose).toContain('migrate: { condition: service_completed_successfully }')
  // What migrates boots the application, and needs its secrets too.
  expect(compose.match(/env_file:/g)).toHaveLength(2)
  expect(read('app/README.md').includes("mysql -u root -e 'create database app'")).toBe(kind === 'mysql')
})

test('--install that fails keeps the project, and prints how to continue', async () => {
  mkdirSync(join(folder, 'bin'))
  const env = { PATH: join(folder, 'bin'), CI: '' }
  const { code, stderr } = await framework(folder, ['init', 'app', '--install', '--pm', 'pnpm'], env)
  expect([code, stderr]).toEqual([
    1,
    'pnpm cannot be started (ENOENT): the project is complete; install its packages with "pnpm install"\n',
  ])
  expect(filesIn('app')).toContain('src/server.ts')
})

test('names are those that npm takes', () => {
  const good = ['a', 'my-app', '@me/app', 'app.v2', 'a_b', '7zip']
  expect(good.filter((name) => whyNoPackageName(name) !== undefined)).toEqual([])
  const bad = [
    '',
    'A',
    '.a',
    '_a',
    '-a',
    'a b',
    'a/b',
    '@me',
    '@/a',
    '@me/',
    '@me/.a',
    'a\0',
    'ä',
    'http',
    'a'.repeat(215),
  ]
  expect(bad.filter((name) => whyNoPackageName(name) === undefined)).toEqual([])
  expect(['Große App', 'MyApp', '..', '日本', 'vitest'].map(packageNameFrom)).toEqual([
    'gro-e-app',
    'my-app',
    undefined,
    undefined,
    undefined,
  ])
})
