import { afterAll, beforeAll, expect, test } from 'vitest'
import { locks, makeBin } from '../support/cli/runtimes.ts'
import { makeProject } from '../support/cli.ts'
import { startServe, startWorkers } from '../support/serve.ts'

// serve-runtimes.long.test.ts and start-runtimes.long.test.ts have mistakes, loops, ports and ends.
let bin: ReturnType<typeof makeBin>
beforeAll(() => {
  bin = makeBin()
})
afterAll(() => bin?.remove())

const text = (value: string) => `export const text = '${value}'\n`

test.concurrent.each([
  ['bun', 'Bun'],
  ['deno', 'Deno'],
] as const)('on %s: serve finds it by its lock file and takes a change; start has workers', async (runtime, name) => {
  const project = makeProject({
    'src/index.js': `import { Server } from 'framework'
import { text } from './text.js'
const server = new Server({ port: Number(process.env.PORT), host: '127.0.0.1' })
const runtime = 'Bun' in globalThis ? 'Bun' : 'Deno' in globalThis ? 'Deno' : 'Node.js'
server.get('/', () => ({ text, runtime }))
await server.listen()
`,
    'src/text.js': text('one'),
    ...locks[runtime],
  })
  const around = { env: { PATH: bin.path, NODE_COMPILE_CACHE: undefined } }
  const serving = await startServe(project, ['--entry', 'src/index.js'], around)
  try {
    await serving.says(`src/index.js on ${name}`)
    await serving.answers('one')
    project.write({ 'src/text.js': text('two') })
    await serving.answers('two')
    expect(await serving.get()).toEqual({ text: 'two', runtime: name })
    expect(await serving.end('SIGINT')).toEqual({ code: 0, signal: null })
  } finally {
    await serving.end('SIGKILL')
  }
  const workers = await startWorkers(project, ['--workers', '2', '--entry', 'src/index.js'], around)
  try {
    await workers.says('2 workers listen')
    expect(await workers.get()).toEqual({ text: 'two', runtime: name })
    expect(await workers.end('SIGTERM')).toEqual({ code: 0, signal: null })
  } finally {
    await workers.end('SIGKILL')
    project.remove()
  }
})
