import { once } from 'node:events'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { Agent, get } from 'node:http'
import module from 'node:module'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runtimeBinary } from '../runtimes/run.mjs'
import { framework as inOneProcess } from '../support/cli/fresh.ts'
import { framework, makeProject, type Project } from '../support/cli.ts'
import { pause } from '../support/kernel.ts'
import { freePort } from '../support/own-server.ts'
import { isAlive, type Serving, startWorkers, until } from '../support/serve.ts'

const projects: Project[] = []
afterAll(() => {
  for (const project of projects) project.remove()
})

/** An application whose responses name the worker. */
const application = `import { existsSync } from 'node:fs'
import { cron as job, definePlugin, Server } from 'framework'
import { cron } from 'framework/plugins'
if (existsSync('broken')) throw new Error('this version does not boot')
let leads = false
const duty = definePlugin({ name: 'duty', setup: (ctx) => ctx.onLead(() => void (leads = true)) })
const plugins = [duty()]
if (!('Bun' in globalThis || 'Deno' in globalThis)) {
  plugins.push(cron({ crons: [], ui: { middlewares: [(req, res, next) => next()] } }))
  await job('0 0 3 * * *', { name: 'nightly' }).start(() => { throw new Error('ran in ' + process.pid) })
}
const port = Number(process.env.PORT)
const server = new Server({ port, host: '127.0.0.1', plugins })
const who = () => ({ pid: process.pid, ...server.worker, leads })
server.get('/', who)
server.get('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 100))
  return who()
})
server.get('/exit', () => process.exit(3))
server.get('/last', async () => {
  console.log('the last request, for ' + process.pid)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  return who()
})
server.get('/loop', () => {
  console.log('in the loop')
  for (;;);
})
await server.listen()
`

function makeApplication(files: Readonly<Record<string, string>> = {}): Project {
  const project = makeProject({ 'dist/index.js': application, 'src/index.ts': application, ...files })
  projects.push(project)
  return project
}

/** The tests' own folder for compiled code would take the place of that of the application. */
const ownCache = { NODE_COMPILE_CACHE: undefined }

interface Who {
  readonly pid: number
  readonly number: number
  readonly of: number
  readonly leads: boolean
}

/** All workers that response, in the order of their numbers. */
async function workersOf(serving: Serving, count: number): Promise<Who[]> {
  const found = new Map<number, Who>()
  await until(`${count} workers`, async () => {
    const who = (await serving.get()) as Who | undefined
    if (who !== undefined) found.set(who.number, who)
    return found.size === count
  })
  return [...found.values()].sort((one, other) => one.number - other.number)
}

/** Sends a request after the other, on kept and on new connections; `stop` returns the failures. */
function load(port: number, clients: number) {
  const failures: string[] = []
  let answered = 0
  let isOver = false
  const ask = (path: string, agent: Agent) =>
    new Promise<void>((resolve) => {
      const fail = (why: string) => {
        failures.push(why)
        resolve()
      }
      get({ host: '127.0.0.1', port, path, agent }, (answer) => {
        answer.resume().once('end', () => {
          answered++
          if (answer.statusCode === 200) resolve()
          else fail(`status ${answer.statusCode}`)
        })
      }).once('error', (error) => fail(error.message))
    })
  const agents = [true, false].flatMap((keepAlive) =>
    Array.from({ length: clients }, () => new Agent({ keepAlive, maxSockets: 1 })),
  )
  const running = agents.map(async (agent, index) => {
    while (!isOver) {
      await ask(index % 4 === 0 ? '/slow' : '/', agent)
      // As many requests as possible would take the processor time that the workers need to start.
      await pause(10)
    }
    agent.destroy()
  })
  return async () => {
    isOver = true
    await Promise.all(running)
    return { failures, answered }
  }
}

test.concurrent('on Node.js: a worker that ends is replaced, and a rolling restart loses no request', async () => {
  const project = makeApplication()
  const serving = await startWorkers(project, ['--workers', '2', '--stuck-after', '10'], { env: ownCache })
  try {
    await serving.says('2 workers listen')
    // What the first worker has compiled, from Node.js 22.10 on.
    expect(existsSync(join(project.folder, 'node_modules/.cache/framework'))).toBe('flushCompileCache' in module)
    const [first, second] = await workersOf(serving, 2)
    expect([first, second]).toMatchObject([
      { number: 1, of: 2, leads: true },
      { number: 2, of: 2, leads: false },
    ])
    // Whichever worker is asked, the page is about the one that runs the jobs.
    const page = `http://127.0.0.1:${serving.port}/crons`
    const headers = { 'sec-fetch-site': 'same-origin', connection: 'close' }
    for (const turn of [1, 2]) {
      await fetch(`${page}?run=nightly`, { method: 'POST', headers, redirect: 'manual' })
      await until(`run ${turn} on the page`, async () => {
        const texts = await Promise.all([1, 2].map(async () => (await fetch(page, { headers })).text()))
        return texts.every((text) => text.split(`ran in ${first!.pid}`).length === turn + 1)
      })
    }
    // The second one leads as soon as the first has ended.
    process.kill(first!.pid, 'SIGKILL')
    await serving.says(`worker 1 (${first!.pid}) ended with SIGKILL`)
    await until('another one that leads', async () => (await workersOf(serving, 2))[1]!.leads)
    const [again] = await workersOf(serving, 2)
    expect([again!.leads, again!.pid === first!.pid]).toEqual([false, false])
    await serving.get('/loop')
    await serving.says('has been unresponsive for 10 s and is killed')
    const before = await workersOf(serving, 2)
    // Under load, a version that does not boot leaves those that work, and one that does takes their place.
    const stop = load(serving.port, 6)
    project.write({ broken: '' })
    serving.child.kill('SIGHUP')
    await serving.says('this version does not boot')
    await serving.says('the rolling restart stops at worker 1')
    expect((await workersOf(serving, 2)).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid))
    rmSync(join(project.folder, 'broken'))
    serving.child.kill('SIGHUP')
    await serving.says('2 workers were replaced')
    const { failures, answered } = await stop()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(100)
    const after = await workersOf(serving, 2)
    expect(after.filter(({ pid }) => before.some((one) => one.pid === pid))).toEqual([])
    expect(after.map(({ leads }) => leads).sort()).toEqual([false, true])
    // A worker that begins to start when the others end does not keep the command; requests in progress get their responses.
    const last = serving.get('/last')
    await serving.says('the last request, for')
    const asked = Number(/the last request, for (\d+)/.exec(serving.output())![1])
    const { pid: idle } = after.find(({ pid }) => pid !== asked)!
    process.kill(idle, 'SIGKILL')
    await serving.says(`(${idle}) ended with SIGKILL`)
    expect(await serving.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(await last).toMatchObject({ of: 2 })
    expect(after.some(({ pid }) => isAlive(pid))).toBe(false)
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent.each([
  'bun',
  'deno',
] as const)('on %s: workers share the port, and no other process has it', async (name) => {
  const binary = runtimeBinary(name)
  if (binary === undefined) throw new Error(`${name} is not installed: npm ci --prefix test/runtimes`)
  const project = makeApplication()
  // By the name that people type.
  symlinkSync(binary, join(project.folder, name))
  const env = { ...ownCache, PATH: [project.folder, '/usr/bin', '/bin'].join(delimiter) }
  const serving = await startWorkers(project, ['--workers', '2', '--runtime', name], { env })
  try {
    await serving.says('2 workers listen')
    // What the first worker has compiled; Deno has a cache of its own.
    expect(existsSync(join(project.folder, 'node_modules/.cache/framework'))).toBe(name === 'bun')
    const before = await workersOf(serving, 2)
    expect(before.map(({ leads }) => leads)).toEqual([true, false])
    const other = await framework(project.folder, ['start', '--runtime', name], { ...env, PORT: String(serving.port) })
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining(`127.0.0.1:${serving.port} is in use by`)])
    serving.child.kill('SIGHUP')
    await serving.says('2 workers were replaced')
    const after = await workersOf(serving, 2)
    expect(after.filter(({ pid }) => before.some((one) => one.pid === pid))).toEqual([])
    // Killed, it takes the workers along.
    await serving.end('SIGKILL')
    await until('the end of the workers', () => !after.some(({ pid }) => isAlive(pid)))
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('the first worker that does not start ends the command, with its error', async () => {
  const taken = createServer().listen(await freePort(), '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { readonly port: number }
  const project = makeApplication()
  const inUse = await framework(project.folder, ['start', '--workers', '2'], { PORT: String(port) })
  taken.close()
  expect(inUse.code).toBe(1)
  expect(inUse.stderr).toContain(`127.0.0.1:${port} is in use by another process`)
  // On a busy machine it is killed before it has ended by itself.
  expect(inUse.stderr).toMatch(/worker 1 ended with (exit code 1|SIGKILL) before it listened/)
  // Shown once, and not by each worker.
  expect(inUse.stderr.split('is in use by another process')).toHaveLength(2)
})

test.concurrent('workers of a supervisor that was killed end, also in an endless loop', async () => {
  const serving = await startWorkers(makeApplication(), ['-w', '2'])
  try {
    await serving.says('2 workers listen')
    const workers = await workersOf(serving, 2)
    void serving.get('/loop')
    await serving.says('in the loop')
    await serving.end('SIGKILL')
    await until('the end of the workers', () => !workers.some(({ pid }) => isAlive(pid)))
  } finally {
    await serving.end('SIGKILL')
  }
})

test.concurrent('invalid arguments are reported', async () => {
  const project = makeApplication()
  const bare = makeProject({ 'src/index.ts': application })
  projects.push(bare)
  const cases: [Project, string[], number, string][] = [
    [project, ['--workers', '0'], 2, '--workers takes a whole number from 1 to 1024, or max, not "0"'],
    [project, ['--workers', '1.5'], 2, 'or max, not "1.5"'],
    [project, ['--stuck-after', '0.5'], 2, '--stuck-after takes whole seconds'],
    [project, ['--runtime', 'rhino'], 2, '--runtime takes node, bun or deno'],
    [project, ['--entry', 'nowhere.js'], 1, 'the entry nowhere.js does not exist'],
    [bare, [], 1, 'src/index.ts is not built: "framework build" creates dist/index.js'],
  ]
  const outcomes = await Promise.all(
    cases.map(([where, args]) => inOneProcess(where.folder, ['start', ...args], { PORT: '0' })),
  )
  for (const [index, [, args, code, words]] of cases.entries()) {
    expect([outcomes[index]!.code, outcomes[index]!.stderr], args.join(' ')).toEqual([
      code,
      expect.stringContaining(words),
    ])
  }
})
