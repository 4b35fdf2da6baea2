import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { runtimeBinary } from '../../test/runtimes/run.mjs'
import { type Program, runProgram, startProgram } from '../../test/support/docs/program.ts'
import { withTypeScript } from '../../test/support/typescript-process.ts'

// As a reader runs them: against the build, through the package's name, by a Node.js that needs no loader. That is a third of the processor
// time, and half of what remains is the compilation that they share.
const newest = runtimeBinary('node26')
const isAsRead = newest !== undefined && existsSync(join(import.meta.dirname, '../../dist/index.js'))
const compiled = mkdtempSync(join(tmpdir(), 'framework-examples-'))
afterAll(() => rmSync(compiled, { recursive: true }))

/** What {@link startProgram} takes. */
const inSources = (name: string, env: NodeJS.ProcessEnv = {}) =>
  [[...withTypeScript, `docs/examples/${name}`], env, process.env.FRAMEWORK_OLDEST_NODE ?? process.execPath] as const
const commandOf = (name: string, env: NodeJS.ProcessEnv = {}) =>
  isAsRead
    ? ([[`docs/examples/${name}`], { NODE_COMPILE_CACHE: compiled, ...env }, newest] as const)
    : inSources(name, env)

const started: Program[] = []

async function start(name: string, env?: NodeJS.ProcessEnv): Promise<Program> {
  const program = await startProgram(...commandOf(name, env))
  started.push(program)
  return program
}

afterEach(() => {
  for (const program of started.splice(0)) program.child.kill('SIGKILL')
})

const answer = async (url: string, init?: RequestInit) => {
  const res = await fetch(url, init)
  return { status: res.status, headers: res.headers, text: await res.text() }
}

/** One test for each example. */
const examples: Record<string, () => Promise<void>> = {
  async 'first.ts'() {
    const { url, output } = await start('first.ts')
    const headers = { 'content-type': 'application/json' }
    const order = (body: string) => answer(`${url}/shops/1/orders`, { method: 'POST', headers, body })
    const accepted = await order('{"book":"Kindred"}')
    expect([accepted.status, accepted.text]).toEqual([202, '{"shop":"1","book":"Kindred","copies":1}'])
    await expect.poll(output).toContain('1 packs Kindred')
    expect((await order('{"copies":0}')).status).toBe(422)
    expect((await answer(`${url}/docs`, { headers: { accept: 'text/html' } })).status).toBe(200)
  },

  async 'hello.ts'() {
    const { url } = await start('hello.ts')
    expect((await answer(`${url}/hello`)).text).toBe('{"hello":"world"}')
    expect((await answer(`${url}/hello/you`)).text).toBe('{"hello":"you"}')
  },

  async 'counter.ts'() {
    const { url } = await start('counter.ts')
    expect((await answer(`${url}/next`)).text).toBe('{"count":2}')
    expect((await answer(`${url}/next`)).text).toBe('{"count":3}')
  },

  async 'service.ts'() {
    const { url } = await start('service.ts')
    await answer(url)
    await answer(`${url}/nowhere`)
    expect((await answer(`${url}/visits`)).text).toBe('["/nowhere","/"]')
  },

  async 'scope.ts'() {
    const { url, output } = await start('scope.ts')
    expect((await answer(url)).status).toBe(200)
    expect((await answer(`${url}/admin/stats`)).status).toBe(401)
    expect((await answer(`${url}/admin/stats`, { headers: { 'x-key': 'secret' } })).status).toBe(200)
    await expect.poll(output).toMatch(/admin \(scoped, \/admin\)[\s\S]*GET +\/admin\/stats +json > key > \S+\.ts:\d+/)
  },

  async 'middleware.ts'() {
    const { url } = await start('middleware.ts')
    expect((await answer(`${url}/me`)).status).toBe(401)
    const me = await answer(`${url}/me`, { headers: { authorization: 'Ada' } })
    expect(me.text).toBe('{"name":"Ada"}')
    expect(me.headers.get('server-timing')).toMatch(/^app;dur=\d/)
  },

  async 'stream.ts'() {
    const { url } = await start('stream.ts')
    const clock = await answer(`${url}/clock`)
    expect(clock.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(clock.text).toBe([1, 2, 3].map((n) => `event: tick\nid: ${n}\ndata: {"tick":${n}}\n\n`).join(''))
    const lines = await answer(`${url}/lines`)
    expect(lines.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(lines.text.split('\n')).toHaveLength(1001)
    expect((await answer(`${url}/files/hello.ts`)).text).toContain('new Server()')
    const outside = await answer(`${url}/files/..%2F..%2Fpackage.json`)
    expect([outside.status, JSON.parse(outside.text).code]).toEqual([404, 'FileNotFoundError'])
  },

  async 'inject.ts'() {
    expect(await runProgram(...commandOf('inject.ts'))).toEqual({ code: 0, stdout: 'all as expected\n', stderr: '' })
  },

  async 'close.ts'() {
    const program = await start('close.ts')
    const slow = answer(`${program.url}/slow`)
    await new Promise((resolve) => setTimeout(resolve, 150))
    const ended = program.end('SIGTERM')
    expect((await slow).text).toBe('"answered all the same"')
    expect(await ended).toEqual({ code: 0, signal: null })
    expect(program.output()).toContain('the worker is stopped')
  },

  async 'telemetry.ts'() {
    const bodies: string[] = []
    const collector = createServer(async (req, res) => {
      bodies.push(`${req.url} ${await text(req)}`)
      res.end('{}')
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    const { port } = collector.address() as AddressInfo
    try {
      const to = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_SERVICE_NAME: 'book-shop' }
      const program = await start('telemetry.ts', to)
      expect((await answer(`${program.url}/orders/5`)).text).toBe('{"id":"5"}')
      expect(await program.end('SIGTERM')).toEqual({ code: 0, signal: null })
      expect(bodies.join()).toMatch(/^\/v1\/traces .*"GET \/orders\/:id"/)
      expect(bodies.join()).toContain('"key":"service.name","value":{"stringValue":"book-shop"}')
      expect(program.output()).toMatch(/"trace_id":"[0-9a-f]{32}"/)
      bodies.length = 0
      const unsampled = await start('telemetry.ts', { ...to, OTEL_TRACES_SAMPLER: 'always_off' })
      await answer(`${unsampled.url}/orders/5`)
      await unsampled.end('SIGTERM')
      expect(bodies).toEqual([])
    } finally {
      collector.close()
    }
  },

  async 'https.ts'() {
    const folder = mkdtempSync(join(tmpdir(), 'framework-https-'))
    try {
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
      const args = ['req', '-x509', ...curve, '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=localhost']
      execFileSync('openssl', args, { stdio: 'ignore' })
      const { url } = await start('https.ts', { KEY: key, CERT: cert })
      const text = await new Promise<string>((resolve, reject) => {
        request(url, { rejectUnauthorized: false }, (res) => {
          let body = ''
          res.on('data', (chunk: Buffer) => {
            body += chunk.toString()
          })
          res.on('end', () => resolve(body))
        })
          .on('error', reject)
          .end()
      })
      expect(JSON.parse(text)).toEqual({ protocol: 'https', url: `${url}/` })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('the example', () => {
  for (const [name, run] of Object.entries(examples)) {
    test.skipIf(name === 'https.ts' && !hasOpenssl())(name, run, 30_000)
  }

  test('that is missing here does not exist', () => {
    const there = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    expect(Object.keys(examples).sort()).toEqual(there.sort())
  })
})

test.skipIf(!isAsRead)(
  'hello.ts runs in TypeScript of a project, with the sources, on the oldest Node.js here',
  async () => {
    const program = await startProgram(...inSources('hello.ts'))
    started.push(program)
    expect((await answer(`${program.url}/hello/you`)).text).toBe('{"hello":"you"}')
    expect(await program.end()).toEqual({ code: 0, signal: null })
  },
)
