import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { pause } from '../../support/kernel.ts'
import { withTypeScript } from '../../support/typescript-process.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
let child: ChildProcessByStdio<null, Readable, Readable> | undefined
afterEach(() => child?.kill('SIGKILL'))

async function start() {
  const started = spawn(process.execPath, [...withTypeScript, 'test/plugins/fixtures/log-server.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = started
  let stderr = ''
  started.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  await expect.poll(() => stderr).toMatch(/port \d+/)
  const url = `http://127.0.0.1:${/port (\d+)/.exec(stderr)![1]}`
  const work = async () => {
    const res = await fetch(`${url}/work`, { signal: AbortSignal.timeout(60_000) })
    return ((await res.json()) as { pid: number }).pid
  }
  return { started, work, stderr: () => stderr }
}

describe('standard output', () => {
  test('that no one reads blocks no request', async () => {
    const { started, work, stderr } = await start()
    // Not a byte is read: the pipe is full after 64 kB, that is after four requests.
    for (let i = 0; i < 40; i++) expect(await work()).toBe(started.pid)
    expect(stderr()).not.toMatch(/uncaught|unhandled/)
  })

  test('that is closed ends the log and not the server', async () => {
    const { started, work, stderr } = await start()
    started.stdout.destroy()
    for (let i = 0; i < 20; i++) {
      expect(await work()).toBe(started.pid)
      await pause(2)
    }
    expect(stderr()).not.toMatch(/uncaught|unhandled/)
    started.kill('SIGTERM')
    expect((await once(started, 'exit'))[0]).toBe(0)
  })

  test('has every line when the server has closed', async () => {
    const { started, work } = await start()
    let stdout = ''
    started.stdout.on('data', (chunk) => {
      stdout += String(chunk)
    })
    for (let i = 0; i < 20; i++) await work()
    started.kill('SIGTERM')
    await once(started, 'close')
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string })
    expect(lines.filter((line) => line.msg === 'request')).toHaveLength(20)
    expect(lines.filter((line) => line.msg === 'much to say')).toHaveLength(20)
  })
})

test('importing the framework does not load pino, and logger writes with the defaults', async () => {
  const script = `
    import { createRequire } from 'node:module'
    import { logger } from 'framework'
    const { cache } = createRequire(import.meta.url)
    const loaded = () => Object.keys(cache).some((file) => /[\\\\/]pino[\\\\/]/.test(file))
    const before = loaded()
    logger.info({ password: 'x', before }, 'first')
    logger.debug('not written')
    logger.child({ job: 1 }).warn({ after: loaded() }, 'second')
  `
  const args = [...withTypeScript, '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(lines).toMatchObject([
    { level: 30, password: '[redacted]', before: false, msg: 'first' },
    { level: 40, job: 1, after: true, msg: 'second' },
  ])
})

test('jobs that end while the server closes lose no line', async () => {
  const started = spawn(process.execPath, [...withTypeScript, 'test/plugins/fixtures/fifty-jobs.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child = started
  let [stdout, stderr] = ['', '']
  started.stdout.on('data', (chunk) => {
    stdout += String(chunk)
  })
  started.stderr.on('data', (chunk) => {
    stderr += String(chunk)
  })
  await expect.poll(() => stderr).toContain('all have begun')
  started.kill('SIGTERM')
  expect((await once(started, 'close'))[0]).toBe(0)
  expect(new Set(stdout.match(/job \d+ has ended/g)).size).toBe(50)
})
