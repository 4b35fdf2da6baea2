import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasWrk, pinned } from '../support/machine.ts'
import type { Exchange } from './probe.ts'

export interface Slice {
  readonly requests: number
  readonly perSecond: number
}

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const bodies = new Map<string, string>()
process.once('exit', () => {
  for (const path of bodies.values()) rmSync(join(path, '..'), { recursive: true, force: true })
})

/** Writes a body to a file: an environment variable holds at most 128 KB. */
function bodyFile(body: string): string {
  let path = bodies.get(body)
  if (path === undefined) {
    path = join(mkdtempSync(join(tmpdir(), 'framework-bench-body-')), 'body')
    writeFileSync(path, body)
    bodies.set(body, path)
  }
  return path
}

function run(command: readonly string[], env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0]!, command.slice(1), {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${command[0]} ended with ${code}`))))
  })
}

/** Loads a server from core 1 for `seconds`. Any status but 2xx is an error, not a result. */
export async function load(port: number, exchange: Exchange, seconds: number): Promise<Slice> {
  const { method, targets, headers, body, connections, pipelining } = exchange
  const env = {
    BENCH_METHOD: method,
    BENCH_BODY: body === '' ? '' : bodyFile(body),
    BENCH_HEADERS: Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    BENCH_PATHS: targets.map(({ path }) => path).join('\n'),
    BENCH_PIPELINING: String(pipelining),
  }
  const url = `http://127.0.0.1:${port}${targets[0].path}`
  if (!hasWrk) {
    const command = pinned(1, [process.execPath, file('built-in-generator.mjs'), url])
    const output = await run(command, {
      ...env,
      BENCH_SECONDS: String(seconds),
      BENCH_CONNECTIONS: String(connections),
    })
    return JSON.parse(output) as Slice
  }
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '5s', '-s', file('request.lua')]
  const output = await run(pinned(1, ['wrk', ...options, url]), env)
  const trouble = /Non-2xx or 3xx responses: .*|Socket errors: .*/.exec(output)?.[0]
  if (trouble !== undefined) throw new Error(`${url}: ${trouble}`)
  const requests = Number(/(\d+) requests in/.exec(output)?.[1])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
  if (requests === 0) throw new Error(`${url}: no response within ${seconds} s; a longer slice is needed: --seconds`)
  if (!(requests > 0)) throw new Error(`the output of wrk cannot be read:\n${output}`)
  return { requests, perSecond }
}
