import { makeProject, type Project } from '../cli.ts'
import { type Serving, until } from '../serve.ts'

/** The projects of a test file. */
export const projects: Project[] = []

/** For `afterAll`. */
export function removeProjects(): void {
  for (const project of projects.splice(0)) project.remove()
}

/** An application whose responses name the worker. */
export const application = `import { appendFileSync, existsSync } from 'node:fs'
import { cron as job, definePlugin, Server } from 'framework'
import { cron } from 'framework/plugins'
if (existsSync('broken')) throw new Error('this version does not boot')
if (existsSync('slow')) {
  console.error('a worker is being loaded')
  await new Promise((resolve) => setTimeout(resolve, 1_000_000))
}
let leads = false
process.on('exit', (code) => appendFileSync('exits.log', process.pid + ' ' + code + '\\n'))
const duty = definePlugin({
  name: 'duty',
  setup(ctx) {
    ctx.onLead(() => void (leads = true))
    ctx.onClose(() => console.log('closed ' + process.pid))
  },
})
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
  // Stops the event loop as an endless loop does, without the processor time that the others need.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
await server.listen()
`

export function makeApplication(files: Readonly<Record<string, string>> = {}): Project {
  const project = makeProject({ 'dist/index.js': application, 'src/index.ts': application, ...files })
  projects.push(project)
  return project
}

/** The tests' own folder for compiled code would take the place of that of the application. */
export const ownCache = { NODE_COMPILE_CACHE: undefined }

interface Who {
  readonly pid: number
  readonly number: number
  readonly of: number
  readonly leads: boolean
}

/** All workers that respond, in the order of their numbers. */
export async function workersOf(serving: Serving, count: number): Promise<Who[]> {
  const found = new Map<number, Who>()
  await until(`${count} workers`, async () => {
    const who = (await serving.get()) as Who | undefined
    if (who !== undefined) found.set(who.number, who)
    return found.size === count
  })
  return [...found.values()].sort((one, other) => one.number - other.number)
}
