import { afterAll, beforeAll, expect, test } from 'vitest'
import { locks, makeBin } from '../support/cli/runtimes.ts'
import { makeProject } from '../support/cli.ts'
import { freePort } from '../support/own-server.ts'
import { isAlive, started, startServe, until } from '../support/serve.ts'

// serve-runtimes.test.ts has what is the same on every runtime once.
let bin: ReturnType<typeof makeBin>
beforeAll(() => {
  bin = makeBin()
})
afterAll(() => bin?.remove())

const text = (value: string) => `export const text: string = '${value}'\n`

test.concurrent.each([
  ['bun', 'Bun', /text\.ts:1:\d+|SyntaxError|error:/],
  ['deno', 'Deno', /text\.ts:1:\d+/],
] as const)('on %s: found by its lock file; changes, mistakes, the end', async (runtime, name, place) => {
  const project = makeProject({
    'src/started.ts': started,
    'src/index.ts': "import './started.ts'\nimport { server } from './server.ts'\nawait server.listen()\n",
    'src/server.ts': `import { Server } from 'framework'
import { text } from './text.ts'
export const server = new Server({ plugins: { session: { secret: 'x'.repeat(32) } } })
const runtime = 'Bun' in globalThis ? 'Bun' : 'Deno' in globalThis ? 'Deno' : 'Node.js'
server.get('/', () => ({ text, runtime, pid: process.pid, setting: process.env.SETTING }))
server.get('/visits', (req) => ({ visits: (req.session.visits = (req.session.visits ?? 0) + 1) }))
server.get('/boom', () => { throw new Error('boom') })
`,
    'src/text.ts': text('one'),
    ...locks[runtime],
  })
  const env = { PATH: bin.path }
  const serving = await startServe(project, [], { env })
  try {
    await serving.says(`src/index.ts on ${name}`)
    await serving.answers('one')
    const first = (await serving.get()) as { runtime: string; pid: number }
    expect(first.runtime).toBe(name)
    // The one that gets ready has not read it yet.
    await until('the one that gets ready', () => serving.processes().length === 2)
    project.write({ '.env': 'SETTING=new\n' })
    await serving.says(/restarted in \d+ ms \(\.env\)/)
    expect(((await serving.get()) as { setting?: string }).setting).toBe('new')
    const visit = async (cookie = '') => fetch(`http://127.0.0.1:${serving.port}/visits`, { headers: { cookie } })
    const [cookie = ''] = (await visit()).headers.get('set-cookie')!.split(';')
    project.write({ 'src/text.ts': text('two') })
    await serving.answers('two')
    await serving.says(/restarted in \d+ ms \(src\/text\.ts\)/)
    expect(await (await visit(cookie)).json()).toEqual({ visits: 2 })
    await serving.get('/boom')
    await serving.says(/error GET \/boom failed\n {9}Error: boom\n {11}.*src\/server\.ts:7:\d+\n/)
    project.write({ 'src/text.ts': "export const text = 'three\n" })
    await serving.says(place)
    await serving.says('the previous version keeps serving; the next change starts a new attempt')
    expect(await serving.get()).toMatchObject({ text: 'two' })
    project.write({ 'src/text.ts': "console.log('in the loop')\nfor (;;) {}\nexport const text = ''\n" })
    await serving.says('in the loop')
    for (const at of [4, 5, 6]) project.write({ 'src/text.ts': text(`edit ${at}`) })
    await serving.answers('edit 6')
    const last = (await serving.get()) as { pid: number }
    expect([isAlive(first.pid), serving.versions()]).toEqual([false, [last.pid]])
    // The second version of these cannot have the port of the first.
    project.write({
      'src/index.ts': `import './started.ts'
import { createServer } from 'node:http'
import { server } from './server.ts'
createServer().listen(${await freePort()}, '127.0.0.1')
await server.listen()
`,
      'src/text.ts': text('seven'),
    })
    await serving.answers('seven')
    project.write({ 'src/text.ts': text('eight') })
    await serving.says('src/index.ts opens a port while it is loaded')
    await serving.answers('eight')
    const { pid } = (await serving.get()) as { pid: number }
    expect(serving.versions()).toEqual([pid])
    expect(await serving.end('SIGINT')).toEqual({ code: 0, signal: null })
    expect(isAlive(pid)).toBe(false)
    // Who is killed takes the application along.
    const again = await startServe(project, ['--quiet'], { env })
    await again.answers('eight')
    await until('the one that gets ready', () => again.processes().length === 2)
    const left = again.processes()
    await again.end('SIGKILL')
    await until('the end of the application', () => !left.some(isAlive))
  } finally {
    await serving.end('SIGKILL')
    project.remove()
  }
})
