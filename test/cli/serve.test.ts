import { execFileSync, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import nodeModule from 'node:module'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { namedRoot, rootsOf } from '../../cli/project/sources.ts'
import { warmUp } from '../../cli/serve/warm.ts'
import { watchFiles } from '../../cli/serve/watch.ts'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { installAlone, makeProject, type Project } from '../support/cli.ts'
import { isLong } from '../support/long.ts'
import { freePort } from '../support/own-server.ts'
import { isAlive, type Serving, started, startServe, until } from '../support/serve.ts'

const text = (value: string) => `export const text: string = '${value}'\n`
const files = {
  'src/started.ts': started,
  'src/index.ts': "import './started.ts'\nimport { server } from './server.ts'\nawait server.listen()\n",
  'src/server.ts': `import { Server } from 'framework'
import { text } from './text.ts'
export const server = new Server()
server.get('/', () => ({ text, pid: process.pid, env: process.env.NODE_ENV, host: process.env.HOST }))
`,
  'src/text.ts': text('one'),
}

const opened: (() => unknown)[] = []
afterAll(async () => {
  for (const close of opened.reverse()) await close()
})

async function serveProject(
  more: Record<string, string> = {},
  args: readonly string[] = [],
  options = {},
  prepare = (_: Project) => {},
) {
  const project = makeProject({ ...files, ...more }, ['esbuild'])
  opened.push(() => project.remove())
  prepare(project)
  const serving = await startServe(project, args, options)
  opened.push(() => serving.end('SIGKILL'))
  return { project, serving, edit: (value: string) => project.write({ 'src/text.ts': text(value) }) }
}

const pidOf = async (serving: Serving) => ((await serving.get()) as { pid: number }).pid

/** The modules of a server that says when it closes. */
const closing = (server: string) => ({
  'src/server.ts': `import { definePlugin } from 'framework'
${server}server.register(definePlugin({ name: 'end', setup: (ctx) => ctx.onClose(() => console.log('closed in order')) }))
`,
})

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

/** A signal ends the application in order, its port is free, and nothing is left. */
async function endsInOrder(serving: Serving, signal: NodeJS.Signals): Promise<void> {
  const pid = await pidOf(serving)
  expect(await serving.end(signal)).toEqual({ code: 0, signal: null })
  expect(isAlive(pid)).toBe(false)
  await until('the port', () => isFree(serving.port))
  // Of SIGHUP the framework knows nothing: the application ends as it would without this command.
  const closed = serving.output().match(/closed in order/g) ?? []
  expect(closed).toHaveLength(signal === 'SIGHUP' ? 0 : 1)
}

/** After `kill -9` no process is left. */
async function leavesNoOrphan(serving: Serving): Promise<void> {
  const all = serving.processes()
  expect(all.length).toBeGreaterThan(1)
  await serving.end('SIGKILL')
  await until('the end of the application', () => !all.some(isAlive))
  await until('the port', () => isFree(serving.port))
}

/** One after the other, without a pause. */
const edits = isLong ? 200 : 40
const lastEdit = `edit ${edits - 1}`

/** Writes what each version starts and stops, in which time a version that came too early would be seen. */
const diary = `import { appendFileSync } from 'node:fs'
import { definePlugin } from 'framework'
const write = (what: string) => appendFileSync('diary.log', \`\${what} \${text}\\n\`)
server.register(definePlugin({ name: 'diary', setup(ctx) {
  ctx.onListen(() => write('starts'))
  ctx.onClose(async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    write('stops')
    if (text === '${lastEdit}') console.log('closed in order')
  })
} }))
`

test.concurrent('a change is served by a new process, which is reported, after the end of the one before; a write without a change is not; rapid edits; SIGTERM', async () => {
  const failing = `new Server({ exposeErrorDetails: 'auto' })
server.get('/boom', () => {
  throw new Error('it is of no use') // in the file of the user
})`
  const module = files['src/server.ts'].replace('new Server()', failing) + diary
  // The tests' own folder for compiled code would take the place of that of the application.
  const ownCache = { NODE_COMPILE_CACHE: undefined }
  const { project, serving, edit } = await serveProject({ 'src/server.ts': module }, [], { env: ownCache })
  await serving.answers('one')
  await serving.says(/src\/index\.ts on Node\.js\n(.*\n)?root +boot [\d.]+ ms\n[├└]─/)
  await serving.says(new RegExp(`http://127\\.0\\.0\\.1:${serving.port} \\(ready in \\d+ ms\\)`))
  expect(await serving.get()).toMatchObject({ env: 'development', host: '127.0.0.1' })
  // Compiled code is not in the temporary folder, where another user could put it; from Node.js 22.1 on.
  const compiled = join(project.folder, 'node_modules/.cache/framework')
  // The address of the inspector is in the same folder.
  const isCompiled = readdirSync(compiled).some((name) => name !== 'inspector.json')
  expect(isCompiled).toBe('enableCompileCache' in nodeModule)
  // A mistake shows the line of the source, and not that of the compiled code.
  const failed = await fetch(`http://127.0.0.1:${serving.port}/boom`, { headers: { accept: 'text/html' } })
  expect(await failed.text()).toMatch(/src\/server\.ts:5:\d+<.*class="here">.*of no use.*in the file of the user/s)
  const [, address = ''] = /\n *inspector +(http\S+)/.exec(serving.output()) ?? []
  const visit = await fetch(address, { redirect: 'manual' })
  const cookie = visit.headers.get('set-cookie')!.split(';')[0]!
  const inspected = async () => {
    const page = new URL('/_inspector/api/list?kind=request', address)
    return (await fetch(page, { headers: { cookie } })).json()
  }
  expect(await inspected()).toContainEqual(expect.objectContaining({ title: 'GET /boom', outcome: 'failed' }))
  const first = await pidOf(serving)
  // The same bytes again, a test, and a temporary file of an editor.
  project.write({ 'src/text.ts': text('one'), 'src/text.test.ts': '', 'src/.text.ts.swp': 'x', 'src/data.sqlite': 'x' })
  edit('two')
  await serving.answers('two')
  await serving.says(/restarted in \d+ ms \(src\/text\.ts\)\n/)
  expect(serving.output().match(/restarted/g)).toHaveLength(1)
  const second = await pidOf(serving)
  expect([second === first, isAlive(first), serving.versions()]).toEqual([false, false, [second]])
  await until('the one that gets ready', () => serving.processes().length === 2)
  const [next] = serving.processes().filter((pid) => pid !== second)
  // Many editors save like this: beside it, and then renamed. So half a file is never read, and there is one change.
  writeFileSync(join(project.folder, 'src/text.ts.new~'), text('three'))
  renameSync(join(project.folder, 'src/text.ts.new~'), join(project.folder, 'src/text.ts'))
  await serving.answers('three')
  expect(await pidOf(serving)).toBe(next)
  // The open page continues with the new version, which shows what the earlier ones have seen.
  expect(await inspected()).toContainEqual(expect.objectContaining({ title: 'GET /boom', outcome: 'failed' }))
  // Such a file may change the modules that the spare process has loaded.
  await until('the one that gets ready', () => serving.processes().length === 2)
  const old = serving.processes()
  project.write({ 'package.json': '{ "name": "app", "type": "module" }', 'src/text.ts': text('four') })
  await serving.answers('four')
  expect(old).not.toContain(await pidOf(serving))
  // Listeners, jobs and workers of two versions never overlap.
  const entries = () => readFileSync(join(project.folder, 'diary.log'), 'utf8').trim().split('\n')
  const before = ['one', 'two', 'three'].flatMap((version) => [`starts ${version}`, `stops ${version}`])
  expect(entries()).toEqual([...before, 'starts four'])
  for (let at = 0; at < edits; at++) {
    edit(`edit ${at}`)
    // Some in one burst, some while a version boots.
    if (at % 9 === 0) await new Promise((resolve) => setTimeout(resolve, at % 40))
  }
  await serving.answers(lastEdit)
  // Not its messages: a version may have read a half-written file, and then it reports that.
  expect(serving.versions()).toEqual([await pidOf(serving)])
  await endsInOrder(serving, 'SIGTERM')
  expect(entries().slice(-2)).toEqual([`starts ${lastEdit}`, `stops ${lastEdit}`])
})

test.concurrent('packages that are installed anew are found, though a process got ready without them; two servers and a thread, polled; SIGHUP', async () => {
  const more = {
    'src/index.ts': `import './started.ts'
import { Worker } from 'node:worker_threads'
import { Server } from 'framework'
import { server } from './server.ts'
await server.listen()
await new Server({ port: 0, host: '127.0.0.1' }).listen(({ port }) => console.log('second on', port))
new Worker(new URL('./thread.ts', import.meta.url))
`,
    'src/thread.ts': "const said: string = 'a thread'\nconsole.log(said)\n",
  }
  // As on a file system without events.
  const { project, serving, edit } = await serveProject(more, ['--no-inspector', '--poll'], {}, installAlone)
  const says = async () => {
    await serving.says(/second on \d+/)
    await serving.says('a thread')
  }
  await says()
  await serving.answers('one')
  expect(serving.output()).not.toContain('inspector')
  expect((await fetch(`http://127.0.0.1:${serving.port}/_inspector`)).status).toBe(404)
  // An installation has come half way. Each process that loads the package leaves its trace.
  const manifest = join(project.folder, 'node_modules/framework/package.json')
  const whole = readFileSync(manifest, 'utf8')
  project.write({
    'half.log': '',
    'node_modules/framework/half.js': `import { appendFileSync } from 'node:fs'
appendFileSync('half.log', \`\${process.pid}\\n\`)
throw new Error('half of a package')
`,
    'node_modules/framework/package.json': JSON.stringify({
      ...JSON.parse(whole),
      exports: { '.': './half.js', './kernel': './half.js' },
    }),
    'package.json': '{ "name": "app", "type": "module" }',
  })
  await serving.says('the previous version keeps serving')
  const traces = () => readFileSync(join(project.folder, 'half.log'), 'utf8').trim().split('\n')
  await until('the one that gets ready', () => traces().length === 2 && serving.processes().length === 1)
  project.write({ 'node_modules/framework/package.json': whole })
  edit('two')
  await says()
  await serving.answers('two')
  project.write(closing(files['src/server.ts']))
  await serving.says(/restarted in \d+ ms \(src\/server\.ts\)/)
  await endsInOrder(serving, 'SIGHUP')
})

test.concurrent('a version that does not boot is reported, and the previous one continues to answer; no orphan in a loop is left', async () => {
  const { project, serving } = await serveProject()
  await serving.answers('one')
  const first = await pidOf(serving)
  const goesOn = async (...said: (string | RegExp)[]) => {
    for (const one of said) await serving.says(one)
    await serving.says('the previous version keeps serving; the next change starts a new attempt')
    expect(await serving.get()).toMatchObject({ text: 'one', pid: first })
    await until('the end of the other', () => serving.versions().length === 1)
  }
  project.write({ 'src/text.ts': "export const text = 'two\n" })
  await goesOn(
    /src\/text\.ts:1:25: Unterminated string literal\n\n {2}1 │ export const text = 'two\n {4}│ {25}\^/,
    'src/index.ts did not start; ',
  )
  project.write({ 'src/text.ts': "throw new Error('at import')\nexport const text = ''\n" })
  await goesOn("Error: at import\n  src/text.ts:1:7\n  > 1 │ throw new Error('at import')\n", 'did not start; ')
  // The same failure again, after a change that does not mend it, is one line.
  project.write({ 'src/text.ts': "throw new Error('at import')\nexport const text = 'more'\n" })
  await goesOn('src/index.ts did not start, as before: Error: at import (src/text.ts:1:7); ')
  expect(serving.output().match(/Error: at import\n/g)).toHaveLength(1)
  project.write({ 'src/text.ts': "import './nowhere.ts'\nexport const text = ''\n" })
  await goesOn('nowhere.ts')
  const plugin = "definePlugin({ name: 'teapot', setup() { throw new Error('no water') } })"
  project.write({
    'src/server.ts': `import { definePlugin, Server } from 'framework'\nexport const server = new Server()\nserver.register(${plugin})\n`,
  })
  await goesOn(/^PluginSetupError: .*teapot.*\ncaused by: Error: no water\n {2}Object\.setup src\/server\.ts:3:\d+\n/m)
  // No frame, and no line of code, of the framework itself.
  expect(serving.output()).not.toMatch(/node_modules|dist\/|node:internal/)
  // An application that catches the failure of its start continues without a server.
  project.write({
    'src/index.ts':
      "import { server } from './server.ts'\nawait server.listen().catch(() => {})\nsetInterval(() => {}, 1000)\n",
  })
  await goesOn(/did not start: .*teapot.*no water/)
  project.write({ ...files, 'src/text.ts': 'export const text = await new Promise<string>(() => {})\n' })
  await goesOn('did not start: it awaits something that never settles (code 13); ')
  // It neither ends nor listens: the next change does not wait for it. It stops as in an endless loop, without the processor time.
  const loop = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)\nexport const text = 1\n'
  project.write({ 'src/text.ts': `console.log('in the loop')\n${loop}` })
  await serving.says('in the loop')
  const looping = serving.versions()
  expect([looping.length, await pidOf(serving)]).toEqual([2, first])
  project.write({ 'src/text.ts': `console.log('in a loop again')\n${loop}` })
  await serving.says('in a loop again')
  const [ended] = looping.filter((pid) => pid !== first)
  expect([isAlive(ended!), await pidOf(serving)]).toEqual([false, first])
  await leavesNoOrphan(serving)
})

test.concurrent('a line a request, failures below it, places; sessions continue, also after a crash; Ctrl+C reaches both at once, and the application still closes in order', async () => {
  const source = `import { Server } from 'framework'
import { text } from './text.ts'
export const server = new Server({ plugins: { log: true, health: true, session: { secret: 'x'.repeat(32) } } })
server.get('/', () => ({ text, pid: process.pid }))
server.get('/boom', () => boom(undefined))
server.get('/login', (req) => { req.session.user = 'ada'; return 'in' })
server.get('/who', (req) => ({ user: req.session.user ?? 'no one' }))
server.get('/crash', () => void setTimeout(() => { throw new Error('later') }))
function boom(thing: any): string {
  return thing.name
}
import { definePlugin } from 'framework'
server.register(definePlugin({ name: 'end', setup: (ctx) => ctx.onClose(() => console.log('closed ' + text)) }))
`
  const { serving, edit } = await serveProject({ 'src/server.ts': source }, [], { detached: true })
  const url = `http://127.0.0.1:${serving.port}`
  await serving.answers('one')
  await serving.says(`  health     ${url}/health/ready\n`)
  await serving.get('/boom')
  await serving.says(/\n\d\d:\d\d:\d\d GET {4}\/boom 500 [\d.]+ ms\n {9}TypeError: Cannot read prop.*\n/)
  await serving.says(/^ {11}boom src\/server\.ts:10:16\n.*\n.*\n {11}> 10 │ {3}return thing\.name\n {16}│ {16}\^\n/m)
  await serving.says(/^ {11}at src\/server\.ts:5:\d+\n/m)
  expect(serving.output()).not.toMatch(/"level"|node_modules|dist\//)
  const [cookie = ''] = (await fetch(`${url}/login`)).headers.get('set-cookie')!.split(';')
  const who = async () => (await fetch(`${url}/who`, { headers: { cookie, connection: 'close' } })).json()
  edit('two')
  await serving.answers('two')
  expect(await who()).toEqual({ user: 'ada' })
  await serving.get('/crash')
  await serving.says(/^Error: later\n {2}.*src\/server\.ts:8:\d+\n/m)
  await serving.says('it exited with code 1; the next change starts it again')
  edit('three')
  await serving.answers('three')
  expect(await who()).toEqual({ user: 'ada' })
  const pid = await pidOf(serving)
  process.kill(-serving.child.pid!, 'SIGINT')
  expect((await serving.end('SIGCONT')).code).toBe(0)
  expect(isAlive(pid)).toBe(false)
  await until('the port', () => isFree(serving.port))
  expect(serving.output().match(/closed three/g)).toHaveLength(1)
})

test.concurrent('an application that ignores signals is ended by force; a second signal does not wait', async () => {
  const stubborn = {
    'src/index.ts': `import { server } from './server.ts'
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log('ignored'))
await server.listen()
`,
    'src/server.ts': files['src/server.ts'].replace('new Server(', 'new Server({ gracefulShutdown: false }'),
  }
  const { serving, edit } = await serveProject(stubborn)
  await serving.answers('one')
  edit('two')
  await serving.answers('two')
  await serving.says('did not exit within 2000 ms and was killed')
  const pid = await pidOf(serving)
  serving.child.kill('SIGINT')
  await serving.says('ignored')
  expect(await serving.end('SIGINT')).toEqual({ code: 130, signal: null })
  await until('its end', () => !isAlive(pid))
  await until('the port', () => isFree(serving.port))
})

test.concurrent('a port that is taken is named; the next change starts again what has ended by itself; files that each start writes; a listen hook that never ends is overtaken', async () => {
  const [port, blocker] = [await freePort(), createServer()]
  await new Promise<void>((resolve) => blocker.listen(port, '127.0.0.1', resolve))
  const crashing = {
    'src/server.ts': `${files['src/server.ts']}server.get('/crash', () => void setTimeout(() => { throw new Error('later') }))
server.get('/leave', () => void setTimeout(() => process.exit(0)))
`,
  }
  const { project, serving, edit } = await serveProject(crashing, [], { port })
  await serving.says(`127.0.0.1:${port} is in use by another process`)
  await serving.says('src/index.ts did not start')
  edit('another')
  await serving.says(/src\/index\.ts did not start, as before: PortInUseError: .*; /)
  expect(serving.output().match(/^PortInUseError/gm)).toHaveLength(1)
  // An application may handle that itself.
  const another = await freePort()
  const handled = `await server.listen().catch(() => new Server({ port: ${another}, host: '127.0.0.1' }).listen())`
  project.write({
    'src/index.ts': `import { Server } from 'framework'\n${files['src/index.ts'].replace('await server.listen()', handled)}`,
  })
  await serving.says(new RegExp(`http://127\\.0\\.0\\.1:${another} \\(ready in \\d+ ms\\)`))
  await new Promise((resolve) => blocker.close(resolve))
  project.write(files)
  await serving.answers('one')
  project.write(crashing)
  edit('one again')
  await serving.answers('one again')
  await serving.get('/crash')
  await serving.says('Error: later')
  await serving.says('src/index.ts: it exited with code 1; the next change starts it again')
  edit('two')
  await serving.answers('two')
  await serving.get('/leave')
  await serving.says('it exited on its own with code 0; the next change starts it again')
  project.write({ 'src/index.ts': "console.log('no listen')\n" })
  await serving.says('no listen')
  await serving.says('did not start: it exited on its own with code 0')
  project.write({
    ...files,
    'src/server.ts': `import { writeFileSync } from 'node:fs'
${files['src/server.ts']}setTimeout(() => writeFileSync('src/state.json', String(Date.now())), 100)
`,
  })
  await serving.answers('one')
  expect(serving.versions()).toHaveLength(1)
  await serving.says('src/state.json: every start of the application changes these files, which restarts it again')
  const hook =
    "definePlugin({ name: 'hung', setup: (ctx) => ctx.onListen(() => { console.log('hook of ' + text); return new Promise(() => {}) }) })"
  const hung = `import { definePlugin } from 'framework'\n${files['src/server.ts']}server.register(${hook})\n`
  project.write({ 'src/text.ts': text('two'), 'src/server.ts': hung })
  await serving.says('hook of two')
  project.write({ 'src/text.ts': text('three'), 'src/server.ts': files['src/server.ts'] })
  await serving.says(/restarted in \d+ ms \(src\/server\.ts, (src\/state\.json, )?src\/text\.ts\)/)
  await serving.answers('three')
  project.write({ 'src/text.ts': text('four'), 'src/server.ts': hung })
  await serving.says('hook of four')
  // Nor does a signal wait for it.
  expect(await serving.end('SIGINT')).toEqual({ code: 0, signal: null })
})

test.concurrent('a signal reaches a version that still boots', async () => {
  const { serving } = await serveProject({
    'src/index.ts': `process.on('SIGINT', () => {
  console.log('let go of what it had')
  process.exit(0)
})
console.log('booting')
await new Promise((resolve) => setTimeout(resolve, 1_000_000))
`,
  })
  await serving.says('booting')
  expect(await serving.end('SIGINT')).toEqual({ code: 0, signal: null })
  expect(serving.output()).toContain('let go of what it had')
})

test.concurrent('a port that the application opens while it is loaded: the version before ends first from then on; a pipe among the sources; kill -9 leaves no orphan', async () => {
  const other = await freePort()
  const more = {
    'src/index.ts': `import './started.ts'
import { createServer } from 'node:http'
import { server } from './server.ts'
createServer().listen(${other}, '127.0.0.1')
process.on('message', (message) => console.log('heard', message))
await server.listen()
`,
    'src/server.ts': files['src/server.ts'].replace('new Server(', 'new Server({ plugins: { log: true } }'),
    'texts/a.txt': 'a',
    'words.bin': '',
  }
  const { project, serving, edit } = await serveProject(more, ['--json', '--watch', './texts,words.bin'])
  await serving.answers('one')
  // For programs.
  await serving.says(/^\{"level":30,.*"path":"\/","route":"\/","status":200,.*\}$/m)
  execFileSync('mkfifo', [join(project.folder, 'src/pipe.json')])
  edit('two')
  await serving.answers('two')
  await serving.says('src/index.ts opens a port while it is loaded')
  project.write({ 'texts/deep/b.txt': 'b', 'words.bin': 'b' })
  await serving.says(/restarted in \d+ ms \(texts\/deep\/b\.txt, words\.bin\)/)
  // Nothing is left that could go on.
  project.write({ 'src/text.ts': "throw new Error('at import')\nexport const text = ''\n" })
  await serving.says('src/index.ts did not start; the next change starts a new attempt')
  edit('four')
  await serving.answers('four')
  expect(serving.output().match(/EADDRINUSE|opens a port/g)).toHaveLength(2)
  await until('one that gets ready', () => serving.processes().length === 2)
  await leavesNoOrphan(serving)
  // Messages of the development server are not for the application.
  expect(serving.output()).not.toContain('heard')
})

describe('arguments', () => {
  let project: Project
  let runner: Runner
  opened.push(() => {
    project?.remove()
    runner?.close()
  })
  test.concurrent.each([
    [['--prot', '1'], 2, 'serve: there is no --prot; did you mean --port?'],
    [['a b'], 2, 'serve: "a b" is one argument too many'],
    [['src/app.mts'], 2, 'serve: "src/app.mts" is one argument too many; did you mean --entry src/app.mts?'],
    [['--port', 'x'], 2, 'serve: --port takes a number, not "x"'],
    [['--port', '70000'], 2, '--port takes a whole number from 0 to 65535, not 70000'],
    [['--runtime', '__proto__'], 2, '--runtime takes node, bun or deno, not "__proto__"'],
    [['--runtime', 'bun'], 1, 'Bun is not installed: there is no "bun" on the PATH'],
    [['--entry', '../x.ts'], 1, 'the entry ../x.ts does not exist'],
    [['--entry', 'src'], 1, 'the entry src is a folder: pass the file in it'],
    [['--watch', 'views,nowhere'], 1, '--watch: views does not exist'],
    [[], 1, /^no start file found in .*: looked for src\/index\.ts, index\.ts .*Pass the module/],
  ])('%j', async (args, code, message) => {
    // Where no runtime is to be found.
    runner ??= startRunner({ PATH: '/nowhere' })
    project ??= makeProject({ 'src/index.ts': '', 'empty/package.json': '{}' })
    const folder = args.length === 0 ? join(project.folder, 'empty') : project.folder
    const ended = await runner.run(folder, ['serve', ...args])
    expect(ended).toEqual({
      code,
      stdout: '',
      stderr: typeof message === 'string' ? `${message}\n` : expect.stringMatching(message),
    })
  })
})

test.concurrent('it ends with the script that runs it: npm gives a signal to a shell, which does not pass it on', async () => {
  const project = makeProject(files, ['esbuild'])
  opened.push(() => project.remove())
  const port = await freePort()
  const line = `"${process.execPath}" node_modules/framework/dist/cli/index.js serve --port ${port} & echo pid $!; wait`
  const env = { ...process.env, NODE_OPTIONS: '', npm_lifecycle_event: 'dev' }
  const shell = spawn('/bin/sh', ['-c', line], { cwd: project.folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  shell.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`)
      .then(() => true)
      .catch(() => false)
  await until('a response', answers, () => output)
  const pid = Number(/pid (\d+)/.exec(output)?.[1])
  opened.push(() => isAlive(pid) && process.kill(pid, 'SIGKILL'))
  shell.kill('SIGTERM')
  await until('the end of the server', async () => !isAlive(pid) && !(await answers()))
})

test('the warm-up of a process does not fail because of its environment', async () => {
  // As Kubernetes has it for a service of this name.
  vi.stubEnv('PORT', 'tcp://10.0.0.1:80')
  await expect(warmUp()).resolves.toBe(undefined)
  vi.unstubAllEnvs()
})

test.each([
  false,
  true,
])('files and folders that come, are renamed, replaced and go are changes, and so are settings; polled: %s', async (poll) => {
  // Vitest sets another mode, which has other files.
  vi.stubEnv('NODE_ENV', undefined)
  const project = makeProject({ ...files, 'texts/a.txt': 'a', 'words.bin': '' })
  opened.push(() => project.remove())
  const heard = new EventEmitter()
  const named = ['texts', 'words.bin'].map((path) => namedRoot(join(project.folder, path)))
  const stop = watchFiles([...rootsOf(project.folder, 'src/index.ts'), ...named], {
    poll,
    changed: (all) => void heard.emit('changed', all),
    exhausted: (error) => void heard.emit('error', error),
  })
  opened.push(stop)
  const seen = async (...expected: readonly string[]) => {
    const [all] = (await once(heard, 'changed')) as [readonly string[]]
    expect(all).toEqual(expected.map((path) => join(project.folder, path)))
  }
  const write = async (texts: Readonly<Record<string, string>>, ...expected: readonly string[]) => {
    const changed = seen(...expected)
    project.write(texts)
    await changed
  }
  await write({ 'src/deep/er/a.routes.ts': 'a' }, 'src/deep/er/a.routes.ts')
  const renamed = seen('src/deep/er/a.routes.ts', 'src/other/er/a.routes.ts')
  renameSync(join(project.folder, 'src/deep'), join(project.folder, 'src/other'))
  await renamed
  // Seen in the folder under its new name.
  await write({ 'src/other/er/a.routes.ts': 'b' }, 'src/other/er/a.routes.ts')
  const removed = seen('src/other/er/a.routes.ts')
  rmSync(join(project.folder, 'src/other'), { recursive: true })
  await removed
  // As Git replaces a folder: the next one at its path often has its number in the file system.
  for (const folder of ['src/deep', 'src']) {
    await write({ 'src/deep/a.ts': `before ${folder}` }, 'src/deep/a.ts')
    const replaced = seen('src/deep/a.ts')
    rmSync(join(project.folder, folder), { recursive: true })
    project.write({ ...files, 'src/deep/a.ts': `with ${folder}` })
    await replaced
    await write({ 'src/deep/a.ts': `after ${folder}` }, 'src/deep/a.ts')
  }
  const sources = [...Object.keys(files), 'src/deep/a.ts'].sort()
  const gone = seen(...sources)
  rmSync(join(project.folder, 'src'), { recursive: true })
  await gone
  await write({ ...files, 'src/deep/a.ts': 'a' }, ...sources)
  await write({ 'src/deep/a.ts': 'b' }, 'src/deep/a.ts')
  // Files that no development server reads do not count.
  await write({ '.env.example': 'A=\n', '.env.test': 'A=0\n', '.env': 'A=1\n' }, '.env')
  await write({ 'texts/deep/b.txt': 'b', 'words.bin': 'b' }, 'texts/deep/b.txt', 'words.bin')
  // Files that the application writes at the top do not count.
  mkdirSync(join(project.folder, 'uploads'))
  const manifest = '{ "name": "app", "type": "module" }'
  await write({ 'uploads/a.json': '{}', 'log.txt': 'x', 'package.json': manifest }, 'package.json')
  vi.unstubAllEnvs()
})
