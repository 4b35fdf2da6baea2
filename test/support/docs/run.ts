import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { type InjectRequest, router } from '../../../kernel/index.ts'
import type { CatalogKey } from '../../../plugins/catalog.ts'
import type { Block } from './blocks.ts'
import { claims, withClaims } from './claims.ts'
import { Server } from './entry-points/framework.ts'
import { type Observed, takeObserved, takeTests } from './entry-points/observed.ts'
import { preludeOf } from './prelude.ts'
import { root } from './texts.ts'

/** The environment of a running block. */
export interface Surroundings {
  /** Files of its working directory, and of its own folder, by path. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Names that the page declares without showing that; the `server` of fragments always exists. */
  readonly globals?: Readonly<Record<string, unknown>>
  /** Prepares that server. */
  readonly prepare?: (server: Server) => void
  /** In place of every address of a Redis. */
  readonly redisUrl: string
  /** The server for routes on the `router` of a block that makes none. */
  readonly plugins: Readonly<Partial<Record<CatalogKey, true>>>
}

const entryPoint = (name: string) => fileURLToPath(new URL(`./entry-points/${name}.ts`, import.meta.url))

/** The block as a module whose servers are observed; its code begins in line 2. */
function moduleOf(block: Block, redisUrl: string): string {
  return `${preludeOf(block)}\n${withClaims(block.code)}\nexport {}\n`
    .replaceAll(/(\bfrom |\bimport )(['"])framework\2/g, `$1'${entryPoint('framework')}'`)
    .replaceAll(/\bfrom (['"])framework\/kernel\1/g, `from '${entryPoint('kernel')}'`)
    .replaceAll(/\bfrom (['"])vitest\1/g, `from '${entryPoint('vitest')}'`)
    .replaceAll(/redis:\/\/[\w.]+(?::\d+)?/g, redisUrl)
}

/** A folder of its own as working directory, until `leave`. */
function enter(block: Block, { files = {}, env = {}, redisUrl, globals = {}, prepare }: Surroundings) {
  const folder = mkdtempSync(join(tmpdir(), 'framework-docs-run-'))
  // Where imports of packages are found. The plugin for decorators in vitest.config.ts only handles `docs/`.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const home = join(folder, 'docs')
  const file = join(home, 'block.ts')
  for (const [path, text] of Object.entries({ ...files, 'block.ts': moduleOf(block, redisUrl) })) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const cwd = process.cwd()
  process.chdir(home)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  for (const [name, value] of Object.entries({ claims, ...globals })) vi.stubGlobal(name, value)
  if (/\bdeclare const server\b/.test(moduleOf(block, redisUrl))) {
    const server = new Server()
    prepare?.(server)
    vi.stubGlobal('server', server)
  }
  const leave = () => {
    process.chdir(cwd)
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
    rmSync(folder, { recursive: true, force: true })
  }
  return { file, leave }
}

/** A path of the pattern: every parameter is 1, every optional one is left out. */
const pathOf = (pattern: string) => pattern.replaceAll(/\/:\w+\?/g, '').replaceAll(/:\w+|\*/g, '1') || '/'

const contents: readonly Pick<InjectRequest, 'headers' | 'body'>[] = [
  {},
  { headers: { 'content-type': 'application/json' }, body: '{}' },
  { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=1' },
  {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: '--b\r\ncontent-disposition: form-data; name="video"; filename="a.mp4"\r\n\r\nbytes\r\n--b--\r\n',
  },
]

/** Requests each route, with bodies of each kind where it may have one. No response may be 500 or above. */
async function ask({ server, routes }: Observed): Promise<string[]> {
  const problems: string[] = []
  // At `/` there may be files, and the other shows the page's handling of unknown paths.
  const always = ['/', '/nowhere'].map((path) => ({ method: 'GET', path }))
  for (const { method, path } of [...always, ...routes]) {
    const url = pathOf(path)
    for (const content of method === 'GET' || method === 'HEAD' ? [{}] : contents) {
      const { status, body } = await server.inject({ method, url, ...content })
      const type = content.headers?.['content-type'] ?? 'no body'
      if (status >= 500) problems.push(`${method} ${url} with ${type} is ${status} ${Buffer.from(body)}`)
    }
  }
  return problems
}

/** The message of an error, with the line of the page that threw it, or where the block begins. */
function messageOf(error: unknown, block: Block): string {
  const { stack = String(error) } = error instanceof Error ? error : {}
  const line = /docs\/block\.ts:(\d+)/.exec(stack)?.[1]
  return `${block.file}:${block.line + Math.max(0, Number(line ?? 2) - 2)}: ${stack}`
}

/** Handles uncaught errors, in place of the test runner, which does not know the page. */
function takeUnhandled(note: (error: unknown) => void): () => void {
  const events = ['unhandledRejection', 'uncaughtException'] as const
  const before = events.map((event) => process.listeners(event as 'uncaughtException'))
  for (const event of events) process.removeAllListeners(event).on(event, note)
  return () => {
    events.forEach((event, index) => {
      process.removeAllListeners(event)
      for (const listener of before[index]!) process.on(event, listener)
    })
  }
}

/**
 * Runs a block as a program: its module, the tests in it, and every server that it makes, which is booted, requested and
 * closed. Returns the problems, each with page and line.
 */
export async function runBlock(block: Block, surroundings: Surroundings): Promise<string[]> {
  const problems: string[] = []
  const note = (error: unknown) => void problems.push(messageOf(error, block))
  const { file, leave } = enter(block, surroundings)
  const giveBack = takeUnhandled(note)
  const servers: Observed[] = []
  try {
    await import(/* @vite-ignore */ file)
    servers.push(...takeObserved())
    if (servers.length === 0 && router.routes.length > 0) {
      new Server({ plugins: surroundings.plugins })
      servers.push(...takeObserved())
    }
    for (const { run } of takeTests()) await run()
    // Examples of closing have closed theirs.
    for (const one of servers.filter(({ server }) => !server.isClosing)) {
      await one.server.ready()
      problems.push(...(await ask(one)).map((problem) => `${block.file}:${block.line}: ${problem}`))
    }
  } catch (error) {
    note(error)
  }
  for (const { server } of [...servers, ...takeObserved()]) await server.close().catch(note)
  // An unhandled rejection is known one turn later.
  await new Promise((resolve) => setTimeout(resolve))
  takeTests()
  router.clearRoutes()
  leave()
  giveBack()
  return problems
}
