import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { runtimeBinary } from '../runtimes/run.mjs'
import { freePort } from './own-server.ts'
import { buildIfMissing, root } from './package/tarball.ts'

// The steps of a newcomer, in the words of the documentation: every line that is typed here is in it.
const steps = readdirSync(join(root, 'docs/first-steps')).map((page) => `docs/first-steps/${page}`)
const pages = ['README.md', 'docs/getting-started.md', ...steps]
  .map((page) => readFileSync(join(root, page), 'utf8'))
  .join('\n')
const says = (line: string) => expect(pages, `no page says ${line}`).toContain(line)

export interface Manager {
  readonly name: 'npm' | 'bun' | 'deno'
  readonly make: string
  readonly install: string
  readonly dev: string
  /** A script of the project, as its README has it. */
  readonly run: (script: string) => string
  readonly framework: string
  readonly start: string
}

export const managers: readonly Manager[] = [
  {
    name: 'npm',
    make: 'npm run new -- ../my-app',
    install: 'npm install',
    dev: 'npm run dev',
    run: (script) => `npm run ${script}`,
    framework: 'npm run framework --',
    start: 'node --enable-source-maps dist/index.js',
  },
  {
    name: 'bun',
    make: 'npm run new -- ../my-app --pm bun',
    install: 'bun install',
    dev: 'bun run dev',
    run: (script) => `bun run ${script}`,
    framework: 'bun run framework',
    start: 'bun src/index.ts',
  },
  {
    name: 'deno',
    make: 'npm run new -- ../my-app --pm deno',
    install: 'deno install',
    dev: 'deno task dev',
    run: (script) => `deno task ${script}`,
    framework: 'deno task framework',
    start: 'deno run -A src/index.ts',
  },
]

export let scratch: string
beforeAll(() => {
  buildIfMissing()
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'framework-newcomer-')))
  mkdirSync(join(scratch, 'bin'))
  for (const name of ['bun', 'deno'] as const) symlinkSync(runtimeBinary(name)!, join(scratch, 'bin', name))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Without the variables of a surrounding `npm test` and vitest; with the runtimes of the tests on the path. */
const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^INIT_CWD$|^NODE_(OPTIONS|ENV)$|^VITEST|^FORCE_COLOR$|^(PORT|HOST|LOG_LEVEL)$/i.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    PATH: [dirname(process.execPath), join(scratch, 'bin'), process.env.PATH].join(delimiter),
    NO_COLOR: '1',
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    // No later versions than when the packages of the template were last updated: one that the registry has in part, such as Vite 8.4.0
    // without an optional package, leaves a lock file that `npm ci` refuses.
    npm_config_before: '2026-11-25',
    ...more,
  }
}

interface Running {
  readonly child: ChildProcess
  readonly said: () => string
  end(): Promise<number | null>
}

function start(line: string, folder: string, env: NodeJS.ProcessEnv = {}): Running {
  const [program, ...args] = line.split(' ')
  const child = spawn(program!, args, { cwd: folder, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close') as Promise<[number | null]>
  let said = ''
  const hear = (chunk: Buffer) => {
    said += chunk.toString()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return {
    child,
    said: () => said,
    async end() {
      child.kill('SIGTERM')
      return (await ended)[0]
    },
  }
}

/** Types a line and waits for its end; returns its output. */
export async function type(line: string, folder: string, env?: NodeJS.ProcessEnv): Promise<string> {
  const { child, said } = start(line, folder, env)
  const [code] = (await once(child, 'close')) as [number | null]
  expect([code, line, said()]).toEqual([0, line, said()])
  return said()
}

/** From a clone to a project with its packages; returns its folder. */
export async function makeProject({ name, make, install }: Manager): Promise<string> {
  const folder = join(scratch, name, 'my-app')
  for (const line of ['npm ci', make, install, 'npm run new -- ../my-app --container']) says(line)
  await type(`${make.replace('../my-app', folder)} --container`, root)
  await type(install, folder)
  return folder
}

/** A second folder with the manifest of a project and the packages that production needs, without the optional ones of development. */
export async function makeProduction(project: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'package-lock.json', 'vendor'])
    cpSync(join(project, name), join(folder, name), { recursive: true })
  link(join(project, 'node_modules'), join(folder, 'node_modules'))
  await type('npm prune --omit=dev --omit=optional', folder)
}

/**
 * From a project with its packages to a server in production.
 *
 * @param isWhole whether packages are also installed where the image is built, and not linked from the folder of the project
 */
export async function walk(manager: Manager, folder: string, isWhole: boolean): Promise<void> {
  const { name, dev, run, framework } = manager
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  const change = (file: string, from: string, to: string) => {
    expect(read(file)).toContain(from)
    writeFileSync(join(folder, file), read(file).replace(from, to))
  }

  for (const line of [dev, manager.start]) says(line)

  // Generated files are wired as their notes say, and the variables that they read have values at once.
  says('framework -- generate-controller books')
  expect(await type(`${framework} generate-controller books`, folder)).toContain("import './controllers/books.ts'")
  says('framework -- init-storage -t local')
  expect(await type(`${framework} init-storage -t local`, folder)).toContain(
    "import { storageOptions } from './storage.ts'",
  )
  says('framework -- key-generate --type secret --env')
  await type(`${framework} key-generate --type secret --env`, folder)
  change(
    'src/server.ts',
    'import { env }',
    "import './controllers/books.ts'\nimport { storageOptions } from './storage.ts'\nimport { env }",
  )
  change(
    'src/server.ts',
    'health: true',
    "health: true, storage: storageOptions, session: { secret: env.get('APP_SECRET') }",
  )
  change('src/env.ts', '  LOG_LEVEL', '  GREETING: schema.string(),\n  LOG_LEVEL')
  change('src/server.ts', "{ hello: 'world' }", "{ hello: env.get('GREETING') }")
  change('.env', 'PORT=3000', `PORT=${await freePort()}\nGREETING=world`)
  appendFileSync(join(folder, '.env.test'), 'GREETING=world\n')

  says('npm run check')
  await type(run('check'), folder)
  says('npm test')
  // As in a clone, which has no .env.
  renameSync(join(folder, '.env'), join(folder, '.env.away'))
  await type(run('test'), folder)
  renameSync(join(folder, '.env.away'), join(folder, '.env'))

  const server = start(dev, folder)
  try {
    const url = await urlOf(server)
    expect(url).toContain(`:${/^PORT=(\d+)$/m.exec(read('.env'))![1]}`)
    expect(await (await fetch(url)).json()).toEqual({ hello: 'world' })
    expect(await (await fetch(`${url}/books`)).json()).toEqual([])
    // Where it is is said once, by the development server.
    expect(server.said()).not.toContain('Listening on')
    change('src/server.ts', "{ hello: env.get('GREETING') }", "{ hello: env.get('GREETING').toUpperCase() }")
    await expect.poll(() => answerOf(url), { timeout: 100_000 }).toEqual({ hello: 'WORLD' })
  } finally {
    await server.end()
  }

  // In production: as in the container file, step by step, since not every machine that tests can build images.
  const { folder: there, command } = await buildImage(folder, join(scratch, name, 'image'), isWhole)
  expect(command).toBe(manager.start)
  const variables = {
    NODE_ENV: 'production',
    PORT: '0',
    STORAGE_ROOT: 'files',
    STORAGE_SECRET: 'of this machine alone',
    APP_SECRET: 'of this machine alone, too',
  }
  const refused = start(manager.start, there, variables)
  const [code] = (await once(refused.child, 'close')) as [number | null]
  expect([code, refused.said()]).toEqual([1, expect.stringContaining('GREETING is missing; it takes text')])
  const live = start(manager.start, there, { ...variables, GREETING: 'you' })
  try {
    expect(await answerOf(await urlOf(live))).toEqual({ hello: 'YOU' })
  } finally {
    expect(await live.end()).toBe(0)
  }
}

/**
 * What `npm ci` does, without a second installation: the lock file is that of the manifest, the tarball that it names has been copied, and
 * the packages are those of the project, under second names.
 */
async function installByLinks(from: string, folder: string): Promise<void> {
  await type('npm ci --dry-run --offline', folder)
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved?: string }>
  }
  const files = Object.values(packages).flatMap(({ resolved }) => /^file:(.*)/.exec(resolved ?? '')?.[1] ?? [])
  expect(files.map((file) => [file, existsSync(join(folder, file))])).toEqual([[expect.any(String), true]])
  link(join(from, 'node_modules'), join(folder, 'node_modules'))
}

/** The files of a folder under second names: to copy those of all packages takes ten times as long. */
function link(from: string, to: string): void {
  if (spawnSync('cp', ['-al', from, to]).status === 0) {
    // npm writes its list of the packages in place, which would be that of both.
    const list = '.package-lock.json'
    if (!existsSync(join(from, list))) return
    rmSync(join(to, list))
    cpSync(join(from, list), join(to, list))
    return
  }
  // On another file system, or without GNU's program.
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
}

/** Executes the lines of a Dockerfile, in a folder for each of its stages. */
async function buildImage(
  from: string,
  target: string,
  isWhole: boolean,
): Promise<{ folder: string; command: string }> {
  const ignored = readFileSync(join(from, '.dockerignore'), 'utf8').split('\n')
  const stages = new Map<string, string>()
  let folder = ''
  let command = ''
  for (const line of readFileSync(join(from, 'Dockerfile'), 'utf8').split('\n')) {
    const [word, ...rest] = line.split(' ')
    if (word === 'FROM') {
      folder = join(target, String(stages.size))
      stages.set(rest[2] ?? 'last', folder)
      mkdirSync(folder, { recursive: true })
    } else if (word === 'RUN') {
      for (const one of rest.join(' ').split(' && ')) {
        says(one)
        if (one === 'npm ci' && !isWhole) await installByLinks(from, folder)
        else await type(one, folder)
      }
    } else if (word === 'CMD') command = (JSON.parse(rest.join(' ')) as string[]).join(' ')
    else if (word === 'COPY' && rest[0]!.startsWith('--from=')) {
      const name = rest[1]!.replace('/app/', '')
      link(join(stages.get(rest[0]!.slice(7))!, name), join(folder, name))
    } else if (word === 'COPY') {
      const names = rest
        .slice(0, -1)
        .flatMap((pattern) => (pattern === '.' ? readdirSync(from) : matching(from, pattern)))
      for (const name of names.filter((one) => !ignored.includes(one) && !one.startsWith('.env')))
        cpSync(join(from, name), join(folder, name), { recursive: true })
    }
  }
  return { folder, command }
}

const matching = (folder: string, pattern: string) => {
  const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`)
  return readdirSync(folder).filter((name) => expression.test(name))
}

const urlOf = async ({ said, child }: Running) => {
  const found = () =>
    /(?<=Listening on )http:\S+|http:\S+(?= \(ready in )/.exec(said())?.[0] ??
    (child.exitCode === null ? undefined : said())
  await expect.poll(found, { timeout: 100_000 }).toMatch(/^http:/)
  return found()!.replace(/0\.0\.0\.0|\[::\]/, '127.0.0.1')
}

/** While one version gives way to the next, nothing answers for a moment. */
const answerOf = (url: string) =>
  fetch(url).then(
    (response) => response.json() as unknown,
    (error: Error) => error.message,
  )
