import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { framework, makeProject } from '../support/cli.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { startBeside, started, startServe, until } from '../support/serve.ts'

const opened: (() => unknown)[] = []
afterAll(async () => {
  for (const close of opened.reverse()) await close()
})

interface Entry {
  readonly id: number
  readonly kind: string
  readonly title: string
  readonly trace: string
  readonly outcome: string
  readonly note: string
}

const files = {
  'src/started.ts': started,
  'src/index.ts': "import './started.ts'\nimport { server } from './server.ts'\nawait server.listen()\n",
  'src/server.ts': `import { queue, Server } from 'framework'
const orders = queue<{ book: string; password: string }>('orders', { attempts: 1 })
orders.subscribe(({ book }) => {
  server.logger.info(\`packs \${book}\`)
  if (book === 'torn') throw new Error('the book is torn')
})
export const server = new Server({ plugins: { queues: { ui: true }, metrics: true } })
server.get('/', () => process.pid)
server.get('/order', async ({ query }) => {
  await orders.publish({ book: String(query.book), password: 'hunter2' })
  return 'ordered'
})
`,
}

test.runIf(hasRedis)(
  'the page shows the jobs of a process beside the server, with the requests that published them, also after a restart',
  async () => {
    const redis = await startRedis()
    opened.push(() => redis.stop())
    const env = { REDIS_URL: redis.url, QUEUE_ENGINE: 'bullmq' }
    const project = makeProject(files, ['esbuild', 'bullmq', 'ioredis'])
    opened.push(() => project.remove())
    const serving = await startServe(project, [], { env })
    opened.push(() => serving.end('SIGKILL'))
    await serving.says(/ inspector +http\S+\n/)
    const [, address = ''] = /\n *inspector +(http\S+)/.exec(serving.output()) ?? []
    const { headers } = await fetch(address, { redirect: 'manual' })
    const cookie = headers.get('set-cookie')!.split(';')[0]!
    const ask = async (what: string) =>
      (await fetch(new URL(`/_inspector/api/${what}`, address), { headers: { cookie } })).json()
    const list = (kind: string) => ask(`list?kind=${kind}`) as Promise<Entry[]>

    const file = join(project.folder, 'node_modules/.cache/framework/inspector.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // The page of the queues and the metrics are open while developing only, and the command runs beside a server that does.
    const beside = await startBeside(project, ['queue-start'], { ...env, NODE_ENV: '' })
    opened.push(() => beside.end('SIGKILL'))
    await beside.says(`The inspector of "framework serve" shows them: ${address.split('?')[0]}\n`)

    interface Process {
      readonly pid: number
      readonly runs: string
      readonly state: string
      readonly why?: string
      readonly memory?: number
      readonly restarts?: number
    }
    const processes = () => ask('processes') as Promise<Process[]>
    const inState = (wanted: string) =>
      until(wanted, async () => JSON.stringify((await processes()).map(said)).includes(wanted))
    const said = ({ runs, state, why }: Process) => [runs, state, why].filter(Boolean).join(' ')
    // The list has the order in which processes first reported: this one comes before the next version.
    await inState('queue-start ready')

    const attemptsAt = async (count: number) => {
      let found: Entry[] = []
      await until(`${count} attempts`, async () => {
        found = await list('attempt')
        return found.length === count
      })
      return found
    }
    await serving.get('/order?book=whole')
    await attemptsAt(1)
    await serving.get('/order?book=torn')
    const [torn, whole] = await attemptsAt(2)
    const requests = await list('request')
    expect([torn, whole].map((one) => [one!.outcome, one!.trace])).toEqual([
      ['failed', requests.find(({ title }) => title.includes('torn'))!.trace],
      ['ok', requests.find(({ title }) => title.includes('whole'))!.trace],
    ])
    const details = (await ask(`activity?id=${torn!.id}`)) as { data: object; related: Entry[]; error: object }
    expect(details.data).toMatchObject({ process: beside.child.pid })
    expect(JSON.stringify(details)).not.toContain('hunter2')
    expect(details.error).toMatchObject({
      message: 'the book is torn',
      places: [{ text: expect.stringContaining('src/server.ts') }],
    })
    await until('the line of the job', async () => (await list('log')).some(({ title }) => title === 'packs torn'))
    expect(await ask('exceptions')).toMatchObject([{ message: 'the book is torn' }])
    // What sends the entries is not among them.
    expect(await list('outgoing')).toEqual([])

    // A new version of the application, which is away for a moment, and more work in the meantime.
    project.write({ 'src/server.ts': `${files['src/server.ts']}// changed\n` })
    await serving.says('restarted')
    expect((await attemptsAt(2)).map(({ id }) => id)).toEqual([torn!.id, whole!.id])
    await serving.get('/order?book=new')
    const [latest] = await attemptsAt(3)
    expect(latest).toMatchObject({ outcome: 'ok' })

    // A process that is restarted is new, and the one before it has ended; that of the queue is the same all the time.
    await inState('queue-start ready')
    expect(await processes()).toMatchObject([
      { runs: 'serve', state: 'ready', restarts: 1, memory: expect.any(Number), url: expect.stringContaining('http') },
      { pid: beside.child.pid, runs: 'queue-start', state: 'ready', memory: expect.any(Number) },
      { runs: 'serve', state: 'ended', why: 'exit code 0', restarts: 0 },
    ])
    expect(await beside.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect((await processes()).map(said)).toEqual([
      'serve ready',
      'queue-start ended exit code 0',
      'serve ended exit code 0',
    ])

    // One that fails after it has booted, and a version of the application that has not seen either.
    const idle = { 'src/idle.ts': "import { Server } from 'framework'\nexport const server = new Server()\n" }
    project.write({ ...idle, 'src/server.ts': `${files['src/server.ts']}// changed again\n` })
    await serving.says('restarted')
    const failed = await framework(project.folder, ['queue-start', '--entry', 'src/idle.ts'], env)
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('subscribes to no queue') })
    expect((await processes()).map(said)).toEqual([
      'serve ready',
      'queue-start ended exit code 1',
      'serve ended exit code 0',
      'queue-start ended exit code 0',
      'serve ended exit code 0',
    ])

    expect(await serving.end('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(existsSync(file)).toBe(false)
  },
)
