import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** What a host is asked for. */
export interface Call {
  /** The fixture whose function `run` is called. */
  readonly run?: string
  /** The fixture whose application is started. */
  readonly start?: string
  /** The call whose application is stopped. */
  readonly stop?: number
  readonly args: readonly unknown[]
}

interface Pending {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** A process that runs fixtures, as a test file sees it. */
export class Host {
  readonly pid: number
  readonly #socket: Socket
  readonly #pending = new Map<number, Pending>()
  #last = 0
  #ended = false

  constructor(pid: number, socket: Socket, lines: AsyncIterable<string>, log: string) {
    this.pid = pid
    this.#socket = socket
    void this.#read(lines, log)
  }

  /** Whether its process has ended, so that another one is needed. */
  get ended(): boolean {
    return this.#ended
  }

  call(call: Call): { id: number; result: Promise<unknown> } {
    const id = ++this.#last
    const result = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }))
    this.#socket.write(`${JSON.stringify({ id, ...call })}\n`)
    return { id, result }
  }

  async #read(lines: AsyncIterable<string>, log: string): Promise<void> {
    try {
      for await (const line of lines) {
        const { id, error, value } = JSON.parse(line) as { id: number; error?: string; value?: unknown }
        const pending = this.#pending.get(id)
        this.#pending.delete(id)
        if (error === undefined) pending?.resolve(value)
        else pending?.reject(new Error(error))
      }
    } catch {
      // A reset is an end as well.
    }
    this.#ended = true
    const said = existsSync(log) ? readFileSync(log, 'utf8') : ''
    for (const { reject } of this.#pending.values()) reject(new Error(`the process of the fixtures has ended\n${said}`))
  }
}

const root = join(import.meta.dirname, '../../..')
const hosts = new Map<string, Promise<Host>>()

/** The process for the fixtures of this run on a runtime, which the first test file that needs it starts. */
export async function hostOf(name: string, command: readonly string[]): Promise<Host> {
  const known = await hosts.get(name)
  if (known !== undefined && !known.ended) return known
  const host = findOrStart(name, command)
  hosts.set(name, host)
  return host
}

async function findOrStart(name: string, command: readonly string[]): Promise<Host> {
  // The process that runs all test files, and the build: in watch mode there is a new one now and then.
  const parent = process.ppid
  const build = statSync(join(root, 'dist/index.js')).mtimeMs
  const folder = join(tmpdir(), `framework-hosts-${parent}-${build}`)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.json`)
  const log = `${file}.log`
  const giveUpAt = performance.now() + 100_000
  while (performance.now() < giveUpAt) {
    const host = await find(file, log)
    if (host !== undefined) return host
    if (claims(`${file}.lock`)) start(file, log, command, parent)
    await pause(20)
  }
  throw new Error(`no process for the fixtures on ${name}: ${existsSync(log) ? readFileSync(log, 'utf8') : ''}`)
}

/** Whether this process is the one that starts the host. */
function claims(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'))
    return true
  } catch {
    return false
  }
}

function start(file: string, log: string, [command = '', ...args]: readonly string[], parent: number): void {
  const output = openSync(log, 'w')
  const child = spawn(command, [...args, join(import.meta.dirname, 'host.mjs'), file, String(parent)], {
    cwd: root,
    stdio: ['ignore', output, output],
    // It ends when the run does, however that is, and tidies up.
    detached: true,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  closeSync(output)
  child.once('exit', () => rmSync(`${file}.lock`, { force: true }))
  child.unref()
}

/** `readline` of newer versions of Node.js also ends a line at U+2028, which JSON has within strings. */
async function* linesOf(socket: Socket): AsyncGenerator<string, undefined> {
  let rest = ''
  for await (const chunk of socket.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

async function find(file: string, log: string): Promise<Host | undefined> {
  if (!existsSync(file)) return undefined
  const { port, pid } = JSON.parse(readFileSync(file, 'utf8')) as { port: number; pid: number }
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const lines = linesOf(socket)
  const greeting = await lines.next()
  // Another program may have the port of one that has ended.
  if (greeting.done !== true && greeting.value === String(pid)) {
    socket.unref()
    return new Host(pid, socket, lines, log)
  }
  socket.destroy()
  for (const old of [file, `${file}.lock`]) rmSync(old, { force: true })
  return undefined
}

/** The address of a fixture's module: another one after each change, so that no run has an old one. */
export function moduleOf(fixture: string): string {
  return `${pathToFileURL(fixture).href}?${statSync(fixture).mtimeMs}`
}
