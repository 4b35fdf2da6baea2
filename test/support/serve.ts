import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { Project } from './cli.ts'
import { freePort } from './own-server.ts'
import { childrenOf, isRunning } from './processes.ts'

/** A development server in a process of its own. */
export interface Serving {
  readonly port: number
  readonly child: ChildProcess
  /** The output of both so far, the application and the server around it. */
  output(): string
  /** The response to `GET`, `undefined` while nothing listens. */
  get(path?: string): Promise<unknown>
  /** Waits for a response with this text. */
  answers(text: string): Promise<void>
  /** Waits for an output, after the output of the last wait. */
  says(text: string | RegExp): Promise<void>
  /** The running processes that have loaded the application, by the output of its `started` module. */
  versions(): number[]
  /** Those below the development server, with the one that is only prepared. */
  processes(): number[]
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** Milliseconds until a test gives up: a loaded machine may take long. */
const patience = 100_000

/** Waits until a condition is true that nothing announces. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, detail = () => ''): Promise<void> {
  const end = Date.now() + patience
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}\n${detail()}`)
    await new Promise((resolve) => setTimeout(resolve, 80))
  }
}

/** Whether a process runs; one that has ended and was not yet reaped does not. */
export const isAlive = (pid: number): boolean => isRunning(pid)

/** The first import of an application, so that its processes are known. */
export const started = `import { appendFileSync } from 'node:fs'
appendFileSync('started.log', \`\${process.pid}\\n\`)
`

interface Surroundings {
  readonly env?: NodeJS.ProcessEnv
  readonly detached?: boolean
  readonly port?: number
}

/** Runs `framework serve` on a free port of this machine. */
export async function startServe(project: Project, args: readonly string[] = [], around: Surroundings = {}) {
  const port = around.port ?? (await freePort())
  return startCommand(project, ['serve', '--port', String(port), '--host', '127.0.0.1', ...args], { ...around, port })
}

/** Runs `framework start` with a free port of this machine in the variable `PORT`. */
export async function startWorkers(project: Project, args: readonly string[] = [], around: Surroundings = {}) {
  const port = around.port ?? (await freePort())
  return startCommand(project, ['start', ...args], { ...around, env: { PORT: String(port), ...around.env }, port })
}

/** Runs a command that listens on no port, beside such a server. */
export const startBeside = (project: Project, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  startCommand(project, args, { env, port: 0 })

async function startCommand(
  { folder }: Project,
  args: readonly string[],
  { env = {}, detached = false, port: own }: Surroundings & { readonly port: number },
): Promise<Serving> {
  const command = [join('node_modules/framework/dist/cli/index.js')]
  const child = spawn(process.execPath, [...command, ...args], {
    cwd: folder,
    detached,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: undefined, NODE_OPTIONS: '', FORCE_COLOR: undefined, NO_COLOR: '1', ...env },
  })
  let output = ''
  let read = 0
  const heard = new EventEmitter().setMaxListeners(0)
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      heard.emit('output')
    })
  }
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  // Some tests ask often: `fetch` takes three times as long.
  const get = (path = '/') =>
    new Promise<unknown>((resolve) => {
      const asked = request({ host: '127.0.0.1', port: own, path, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.once('close', () => {
          try {
            resolve(JSON.parse(text))
          } catch {
            resolve(undefined)
          }
        })
      })
      asked.once('error', () => resolve(undefined)).end()
    })
  const processes = () => childrenOf(child.pid!)
  return {
    port: own,
    child,
    output: () => output,
    get,
    answers: (text) =>
      until(
        `the response ${text}`,
        async () => ((await get()) as { text?: string } | undefined)?.text === text,
        () => output,
      ),
    async says(text) {
      const late = AbortSignal.timeout(patience)
      for (;;) {
        const rest = output.slice(read)
        const found = typeof text === 'string' ? rest.indexOf(text) : rest.search(text)
        if (found !== -1) {
          read += found + 1
          return
        }
        await once(heard, 'output', { signal: late }).catch(() => {
          throw new Error(`waited in vain for the words ${text}\n${output.slice(read)}`)
        })
      }
    },
    versions: () => {
      const all = processes()
      const loaded = new Set(readFileSync(join(folder, 'started.log'), 'utf8').split('\n').map(Number))
      return all.filter((pid) => loaded.has(pid))
    },
    processes,
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      const [code, by] = await ended
      return { code, signal: by }
    },
  }
}
