import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bullmqQueue, defineQueueConfiguration, QueueService } from 'framework'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project } from '../support/cli.ts'
import { hasRedis, startRedis } from '../support/redis.ts'

const started: ChildProcess[] = []
// Those of tests that have failed: they would never end.
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** A command that keeps running until it is ended. */
class Running {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown[]>
  stdout = ''
  stderr = ''

  constructor(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const command = [process.execPath, join(folder, 'node_modules/framework/dist/cli/index.js'), ...args]
    // As a package manager runs a script: in a shell, which passes a signal to no one.
    const isScript = env.npm_lifecycle_event !== undefined
    const [program, ...rest] = isScript ? ['/bin/sh', '-c', `"${command.join('" "')}" & wait`] : command
    this.#child = spawn(program!, rest, {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '', FORCE_COLOR: undefined, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.push(this.#child)
    this.#ended = once(this.#child, 'close')
    this.#child.stdout!.on('data', (chunk: Buffer) => {
      this.stdout += chunk.toString()
    })
    this.#child.stderr!.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString()
    })
  }

  async says(text: string | RegExp): Promise<void> {
    await vi.waitFor(() => expect(this.stdout + this.stderr).toMatch(text), { timeout: 60_000, interval: 20 })
  }

  signal(name: 'SIGTERM' | 'SIGINT'): void {
    this.#child.kill(name)
  }

  async end(): Promise<unknown> {
    const [code] = await this.#ended
    return code
  }
}

const stopping = (signal: string) => `${signal}: waiting for running work; send it again to stop immediately\n`

/** Writes a sign of life, and would report a bound socket. */
const store = `import { definePlugin } from 'framework'
export const store = definePlugin({
  name: 'store',
  setup(ctx) {
    console.log('booted')
    ctx.onListen(() => console.log('listening'))
    ctx.onClose(() => console.log('closed'))
  },
})
`

describe.concurrent('cron-start', () => {
  let project: Project
  beforeAll(() => {
    project = makeProject({
      'src/store.ts': store,
      'src/server.ts': `import { Server } from 'framework'
import { store } from './store.ts'
export const server = new Server({ plugins: { store: store() } })
`,
      'src/crons/report.ts': `import { BaseCron, cron, type CronRun } from 'framework'
import { server } from '../server.ts'
export class Reports extends BaseCron {
  @cron('* * * * * *', { name: 'report' })
  async send({ signal }: CronRun) {
    console.log('begins', server.isListening)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => setTimeout(resolve, 300)))
    console.log('ends')
  }
}
`,
      'plugin.js': `import { cron, Server } from 'framework'
await cron('0 0 1 1 *', { name: 'yearly' }).start(() => {})
await cron('* * * * * *', { name: 'endless' }).start(() => {
  console.log('begins')
  return new Promise(() => {})
})
export const server = new Server({ plugins: { cron: { crons: [], timezone: 'Europe/Rome' } } })
`,
      'lock.js': `import { cron, Server } from 'framework'
await cron('0 0 1 1 *', { name: 'yearly' }).start(() => {})
export const server = new Server({ plugins: { cron: { crons: [], lock: { redis: 'redis://127.0.0.1:1' } } } })
`,
      'none.js': `import { Server } from 'framework'
export const server = new Server({ background: { crons: [] } })
`,
      'booted.js': `import { Server } from 'framework'
export const server = new Server()
await server.ready()
`,
      'wrong.js': `import { Server } from 'framework'
export const server = new Server({ background: { crons: ['broken/*.js'] } })
`,
      'broken/job.js': "throw new Error('no key')\n",
    })
  })
  afterAll(() => project.remove())

  test('runs the jobs of src/crons without listening, and lets a running one end', async () => {
    const running = new Running(project.folder, ['cron-start'])
    await running.says(/begins/)
    running.signal('SIGTERM')
    expect(await running.end()).toBe(0)
    // Also its output while it is closing.
    expect(running.stdout).toMatch(/^report {2}\* \* \* \* \* \* {2}next \d{4}-\S+Z\nbegins false\nends\nclosed\n$/)
    const logged = running.stderr.replaceAll(/^\{.*\n/gm, '')
    expect(logged).toBe(`booted\n1 cron job of src/server.ts; Ctrl+C stops\n${stopping('SIGTERM')}`)
  })

  test('ends in order with the script that runs it', async () => {
    const running = new Running(project.folder, ['cron-start'], { npm_lifecycle_event: 'jobs' })
    await running.says(/begins/)
    running.signal('SIGTERM')
    await running.end()
    expect(running.stdout).toMatch(/ends\nclosed\n$/)
  })

  test('takes the options of the plugin; a second signal ends it at once', async () => {
    const running = new Running(project.folder, ['cron-start', '--entry', 'plugin.js'])
    await running.says(/begins/)
    expect(running.stdout).toMatch(
      /^endless {2}\* \* \* \* \* \* {2}next \S+Z · Europe\/Rome\nyearly {3}0 0 1 1 \* {4}next \d{4}-12-31T23:00:00\.000Z · Europe\/Rome\n/,
    )
    running.signal('SIGINT')
    await running.says(/SIGINT: waiting/)
    running.signal('SIGINT')
    expect(await running.end()).toBe(130)
  })

  test('a lock that cannot be reached is reported at once, not at the first tick', async () => {
    const running = new Running(project.folder, ['cron-start', '--entry', 'lock.js'])
    await running.says(/the lock of the cron jobs cannot be reached/)
    running.signal('SIGTERM')
    expect(await running.end()).toBe(0)
  })

  test.each([
    [
      'none.js',
      'none.js has no cron jobs: its option "crons" (default src/crons/**/*.{ts,js}) finds none, and its code starts no cron(pattern) before it listens, as in onReady. If another module exports the server that has them: --entry <file>\n',
    ],
    [
      'booted.js',
      'booted.js booted its server during the import: add the plugin "cron" to the server\nExplained by: npm run framework -- docs PluginAfterBootError\n',
    ],
    [
      'wrong.js',
      /^the job file \S+broken\/job\.js cannot be loaded: no key\nExplained by: npm run framework -- docs CronFileError\n$/,
    ],
    ['missing.js', 'the entry missing.js does not exist\n'],
  ])('%s: nothing to start is exit code 1', async (entry, message) => {
    const { code, stdout, stderr } = await framework(project.folder, ['cron-start', '--entry', entry])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })
})

/** A Redis that the queues of this process are on as well. */
async function usedRedis(): Promise<AsyncDisposable & { readonly url: string }> {
  const redis = await startRedis()
  defineQueueConfiguration({ bullmq: { connection: redis.url } })
  return {
    url: redis.url,
    async [Symbol.asyncDispose]() {
      await QueueService.stop()
      await redis.stop()
    },
  }
}

describe('queue-start', () => {
  let project: Project
  beforeAll(() => {
    const orders = (options: string, more = '') => `import { bullmqQueue, Server } from 'framework'
import { store } from './store.js'
const orders = bullmqQueue('orders')
await orders.subscribe(async ({ book }) => {
  console.log('begins', book)
  await new Promise((resolve) => setTimeout(resolve, book === 2 ? 500 : 0))
  console.log('ends', book)
}, { concurrency: 5 })
${more}
export const server = new Server({ plugins: { store: store() }${options} })
`
    project = makeProject({
      'store.js': store,
      'server.js': orders(', background: { queues: { config: { bullmq: { connection: process.env.QUEUE } } } }'),
      'named.js': orders(
        ", background: { queues: { config: { queues: { default: 'bullmq' }, bullmq: { connection: process.env.QUEUE } } } }",
      ).replaceAll('bullmqQueue', 'queue'),
      'configured.js': orders(
        '',
        `import { defineQueueConfiguration } from 'framework'\ndefineQueueConfiguration({ bullmq: { connection: process.env.QUEUE, publishTimeout: Number(process.env.PATIENCE ?? 30_000) } })`,
      ),
      'unconfigured.js': orders(''),
      'none.js': `import { Server } from 'framework'\nexport const server = new Server()\n`,
      'memory.js': `import { memoryQueue, Server } from 'framework'
await memoryQueue('emails').subscribe(() => {})
export const server = new Server()
`,
    })
  })
  afterAll(() => project.remove())

  // The test run reports an engine that the machine does not have.
  describe.runIf(hasRedis)('with a Redis', () => {
    test.each([
      'server.js',
      'named.js',
      'configured.js',
    ])('%s: the workers work, without listening, and a running one ends', async (entry) => {
      await using redis = await usedRedis()
      const orders = bullmqQueue<{ book: number }>('orders')
      const running = new Running(project.folder, ['queue-start', '--entry', entry], { QUEUE: redis.url })
      await orders.publish({ book: 1 })
      await running.says(/ends 1/)
      await orders.publish({ book: 2 })
      await running.says(/begins 2/)
      running.signal('SIGTERM')
      expect(await running.end()).toBe(0)
      const rows = 'orders  bullmq  concurrency 5\n'
      expect(running.stdout).toBe(`${rows}begins 1\nends 1\nbegins 2\nends 2\nclosed\n`)
      expect(running.stderr).toBe(`booted\n1 subscriber of ${entry}; Ctrl+C stops\n${stopping('SIGTERM')}`)
    })
  })

  test.concurrent('an engine that is away is reported within seconds, and awaited', async () => {
    const running = new Running(project.folder, ['queue-start', '--entry', 'configured.js'], {
      QUEUE: 'redis://127.0.0.1:1',
      PATIENCE: '500',
    })
    await running.says(
      /^.*Redis at redis:\/\/127\.0\.0\.1:1 does not respond\. .* The workers wait until it is available\.$/m,
    )
    running.signal('SIGTERM')
    expect(await running.end()).toBe(0)
  })

  test.concurrent('queues in memory only have messages of this process', async () => {
    const running = new Running(project.folder, ['queue-start', '--entry', 'memory.js'])
    await running.says('Queues in memory only receive messages that this process itself publishes.')
    running.signal('SIGINT')
    expect(await running.end()).toBe(0)
  })

  test.concurrent.each([
    [
      'none.js',
      /^none\.js subscribes to no queue: does it import the modules that call subscribe\(\)\? If another module .*: --entry <file>\n$/,
    ],
    [
      'unconfigured.js',
      /^booted\nclosed\nthe queue "orders" needs the configuration "bullmq"\..*\nExplained by: npm run framework -- docs QueueNotConfiguredError\n$/,
    ],
  ])('%s: nothing to start is exit code 1', async (entry, message) => {
    const { code, stdout, stderr } = await framework(project.folder, ['queue-start', '--entry', entry])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
  })
})
