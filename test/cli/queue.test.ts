import { userInfo } from 'node:os'
import { defineQueueConfiguration, QueueService, queue } from 'framework'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project, framework as spawned } from '../support/cli.ts'
import type { OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { until } from '../support/queues.ts'
import { hasRedis, startRedis } from '../support/redis.ts'

let project: Project
beforeAll(() => {
  project = makeProject({
    // Workers and jobs run where it listens: a command that ran one would handle the messages.
    'server.js': `import { queue, memoryQueue, Server } from 'framework'
memoryQueue('emails')
await queue('orders').subscribe(() => console.log('handled'), { concurrency: 5 })
const { ENGINE: kind, ADDRESS: address } = process.env
const config = {
  queues: { default: kind },
  ...(kind === 'bullmq' && { bullmq: { connection: address, publishTimeout: Number(process.env.PATIENCE ?? 30_000) } }),
  ...(kind === 'pgboss' && { pgboss: { connectionString: address } }),
}
console.log('imported')
export const server = new Server({ background: { queues: { config, run: true } } })
`,
    'plain.js': `import { memoryQueue, Server } from 'framework'
memoryQueue('emails')
export const server = new Server()
`,
    'none.js': `import { Server } from 'framework'\nexport const server = new Server()\n`,
    'unconfigured.js': `import { pgbossQueue, Server } from 'framework'
pgbossQueue('orders')
export const server = new Server()
`,
  })
})
afterAll(() => project.remove())

/** A message in the JSON of the command. */
interface Shown {
  readonly id: string
  readonly state: string
  readonly payload: { readonly book: number }
}

describe.each([
  ['bullmq', hasRedis, () => startRedis()],
  ['pgboss', hasPostgres, () => startPostgres()],
] as const)('%s', (kind, isInstalled, start) => {
  describe.runIf(isInstalled)('on a server of its own', () => {
    const orders = queue<{ book: number; password?: string }>('orders', { attempts: 1 })
    let server: OwnServer
    const run = (...argv: string[]) =>
      framework(project.folder, ['queue', ...argv, '--entry', 'server.js'], { ENGINE: kind, ADDRESS: server.url })
    const json = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).stdout)
    const ids = async (...argv: string[]) => ((await json('show', 'orders', ...argv)) as Shown[]).map(({ id }) => id)

    beforeAll(async () => {
      server = await startOnce()
    })
    afterAll(() => server?.stop())

    /** Two failed messages, one that waits, and one that is due in an hour. */
    async function startOnce(): Promise<OwnServer> {
      const started = await start()
      const engine =
        kind === 'bullmq' ? { bullmq: { connection: started.url } } : { pgboss: { connectionString: started.url } }
      defineQueueConfiguration({ queues: { default: kind }, ...engine })
      const { unsubscribe } = await orders.subscribe(({ book }) => {
        throw new Error(book === 1 ? 'no paper' : 'no ink')
      })
      await QueueService.run()
      await orders.publish({ book: 1, password: 'hunter2' })
      await until(async () => (await orders.counts()).failed === 1, 'the first has failed')
      await orders.publish({ book: 2 })
      await until(async () => (await orders.counts()).failed === 2, 'both have failed')
      await unsubscribe()
      await orders.publish({ book: 3 })
      await orders.publish({ book: 4 }, { delay: 3_600_000 })
      await QueueService.stop()
      return started
    }

    /** The same of each engine. */
    const forms = async () => {
      expect(await json('list')).toContainEqual({
        ...{ queue: 'orders', kind, waiting: 1, active: 0, delayed: 1, failed: 2, paused: false, subscribers: 1 },
        oldest: expect.any(Number),
      })
      const [, paper = ''] = await ids()
      expect(await json('show', 'orders', paper)).toMatchObject({ id: paper, state: 'failed', payload: { book: 1 } })
      expect((await run('show', 'orders', '--limit', '1')).stderr).toMatch(/^There may be more: --from 1$/m)
      expect(await ids('--from', '1', '--limit', '1')).toEqual([paper])
      expect(await json('show', 'orders', '--state', 'delayed')).toMatchObject([{ payload: { book: 4 } }])
      const missing = await run('show', 'orders', 'nothing')
      expect([missing.code, missing.stdout]).toEqual([1, ''])
      expect(missing.stderr).toMatch(/^the queue "orders" has no message "nothing": it is done, or the id is wrong\./m)
    }
    if (kind === 'bullmq') test('as JSON, by pages, and of a message that there is not', forms)

    test('lists, shows and changes messages, and handles none', async () => {
      const { code, stdout, stderr } = await run('list')
      expect([code, stderr]).toEqual([0, 'imported\n'])
      expect(stdout.split('\n').sort()).toEqual([
        '',
        'emails  memory  ? waiting  ? active  ? delayed  ? failed  0 subscribers · in the process of the server',
        expect.stringMatching(
          new RegExp(`^orders  ${kind}  1 waiting  0 active  1 delayed  2 failed  (oldest \\d+ s · )?1 subscriber$`),
        ),
      ])
      // Those that failed last come first.
      const failed = await run('show', 'orders')
      expect([failed.code, failed.stdout]).toEqual([
        0,
        expect.stringMatching(
          /^\S+ +1 of 1 attempts +\S+Z +(Error: )?no ink +\{"book":2\}\n\S+ +1 of 1 attempts +\S+Z +(Error: )?no paper +\{"book":1,"password":"\[redacted\]"\}\n$/i,
        ),
      ])
      const [ink, paper] = (await ids()) as [string, string]
      const one = await run('show', 'orders', paper)
      expect(one.stdout).toMatch(
        new RegExp(`^id +${paper}\nstate +failed\nattempts +1 of 1 attempts\npublished +\\S+Z\nversion +1\npayload\n`),
      )
      expect(one.stdout).toMatch(
        /\n {4}"book": 1,\n.*\n {2}\}\nerror 1\n {2}\w*Error: no paper\n {6}at .*queue\.test\.ts:\d+/,
      )
      expect((await run('show', 'orders', '--state', 'delayed')).stdout).toMatch(
        / {2}due \d{4}-\S+Z {2}\{"book":4\}\n$/,
      )
      const retried = await run('retry', 'orders', '--match', 'paper')
      expect([retried.code, retried.stdout]).toEqual([0, '1 message sent again\n'])
      expect(retried.stderr).toContain(`"by":"cli:${userInfo().username}"`)
      expect(await ids('--state', 'waiting')).toContain(paper)
      const twice = await run('retry', 'orders', ink, 'nothing', ink)
      expect([twice.code, twice.stdout]).toEqual([1, '1 message sent again\n'])
      expect(twice.stderr).toContain(
        '1 of 2 ids left out: no failed message has them. "framework queue show orders" lists the failed messages',
      )
      expect(await json('retry', 'orders', '--all')).toEqual({ queue: 'orders', retried: 0 })

      expect(await json('pause', 'orders')).toEqual({ queue: 'orders', paused: true })
      expect((await run('list')).stdout).toMatch(/^orders .*3 waiting.* · paused$/m)
      expect((await run('resume', 'orders')).stdout).toBe('the queue "orders" continues\n')
      expect((await run('list')).stdout).not.toContain('paused')

      expect(await json('remove', 'orders', ink)).toEqual({ queue: 'orders', removed: 1 })
      expect(await json('remove', 'orders', '--all-failed')).toEqual({ queue: 'orders', removed: 0 })
      expect((await run('empty', 'orders')).code).toBe(2)
      expect((await run('empty', 'orders', '--state', 'delayed', '--state', 'failed', '--yes')).stdout).toBe(
        '1 message removed\n',
      )
      expect((await run('empty', 'orders', '-y')).stdout).toBe('2 messages removed\n')
      const empty = await run('show', 'orders', '--state', 'waiting')
      expect([empty.code, empty.stdout, empty.stderr]).toEqual([0, '', 'imported\nno waiting messages\n'])
    })

    test('in a process of its own it ends with the command', async () => {
      const argv = ['queue', 'list', '--json', '--entry', 'server.js']
      const { code, stdout } = await spawned(project.folder, argv, { ENGINE: kind, ADDRESS: server.url })
      expect([code, JSON.parse(stdout)]).toEqual([
        0,
        expect.arrayContaining([expect.objectContaining({ queue: 'orders' })]),
      ])
    })
  })
})

describe('what it cannot do is one line with the remedy', () => {
  const away = { ENGINE: 'bullmq', ADDRESS: 'redis://127.0.0.1:1', PATIENCE: '500' }
  const remedy = 'Start it, or correct REDIS_URL or bullmq.connection of the configuration'

  test('an engine that is away', async () => {
    const one = await framework(project.folder, ['queue', 'pause', 'orders'], away)
    expect([one.code, one.stdout]).toEqual([1, ''])
    const why = `the queue "orders" cannot be reached: Redis at redis://127.0.0.1:1 did not respond within 500 ms. ${remedy}\nExplained by: npm run framework -- docs QueueUnavailableError\n`
    expect(one.stderr.replaceAll(/^(\{.*|imported)\n/gm, '')).toBe(why)
    const all = await framework(project.folder, ['queue', 'list'], away)
    expect([all.code, all.stdout.split('\n').sort()[2]]).toEqual([
      1,
      'orders  bullmq  ? waiting  ? active  ? delayed  ? failed  1 subscriber · not available',
    ])
    expect(all.stderr.replaceAll(/^(\{.*|imported)\n/gm, '')).toBe(why.replace(/Explained by: .*\n/, ''))
  })

  const memory =
    'the queue "emails" is in memory: its messages are in the process of the server, and this command is another process. Use the page of the queues or the inspector of that server, or make the queue with queue() and put it on an engine, for example with QUEUE_ENGINE=bullmq\n'
  test.each([
    [['show', 'emails', '--entry', 'plain.js'], 1, memory],
    [['retry', 'emails', '--all', '--entry', 'plain.js'], 1, memory],
    [
      ['show', 'email', '--entry', 'plain.js'],
      1,
      /^there is no queue "email"\. Did you mean "emails"\?\nExplained by: npm run framework -- docs \w+\n$/,
    ],
    [
      ['show', 'orders', '--entry', 'none.js'],
      1,
      'the application has no queues: do its modules import those that make them, with queue(name) for example?\n',
    ],
    [
      ['pause', 'orders', '--entry', 'unconfigured.js'],
      1,
      /^the queue "orders" needs .*"pgboss"\..*\nExplained by: npm run framework -- docs QueueNotConfiguredError\n$/,
    ],
    [
      ['show', 'orders', '5', '--limit', '3'],
      2,
      'queue show: --state, --from and --limit are for a list: leave out either these or the id\n',
    ],
    [
      ['show', 'orders', '--state', 'wating'],
      2,
      '--state takes waiting, active, delayed or failed, not "wating"; did you mean waiting?\n',
    ],
    [['show', 'orders', '--limit', 'x'], 2, 'queue show: --limit takes a number, not "x"\n'],
    [['retry', 'orders'], 2, 'queue retry: say which messages: ids of messages, or --all, or --match <text>\n'],
    [
      ['retry', 'orders', '5', '--all'],
      2,
      'queue retry: ids of messages and --all exclude each other: use one of them\n',
    ],
    [['retry', 'orders', '--match', ''], 2, 'queue retry: --match needs a string; --all is for all failed messages\n'],
    [['remove', 'orders'], 2, 'queue remove: say which messages: ids of messages, or --all-failed\n'],
    [['empty', 'orders'], 2, 'queue empty: there is no terminal in which to confirm the removal: add --yes\n'],
    [['empty', 'orders', '--state', 'active'], 2, '--state takes waiting, delayed or failed, not "active"\n'],
    [['pause'], 2, 'queue pause: <queue> is missing\n'],
    [['lst'], 2, 'there is no command "queue lst"; did you mean "queue list"?\n'],
    [['tidy-up'], 2, 'there is no command "queue tidy-up"; "framework queue --help" lists them\n'],
  ])('%j', async (argv, code, message) => {
    const ended = await framework(project.folder, ['queue', ...argv])
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  test('a wrong limit is refused by the check of the operator', async () => {
    const { code, stderr } = await framework(project.folder, ['queue', 'show', 'orders', '--limit', '0'], away)
    expect([code, stderr.split('\n').at(-2)]).toEqual([
      2,
      'the option "list.limit" is 0; it takes a whole number from 1 to 1000',
    ])
  })

  test('a list of queues in memory, and of none', async () => {
    const memory = await framework(project.folder, ['queue', 'list', '--json', '--entry', 'plain.js'])
    expect([memory.code, JSON.parse(memory.stdout)]).toEqual([0, [{ queue: 'emails', kind: 'memory', subscribers: 0 }]])
    const none = await framework(project.folder, ['queue', 'list', '--entry', 'none.js'])
    expect([none.code, none.stdout, none.stderr]).toEqual([
      0,
      '',
      expect.stringMatching(/^the application has no queues/),
    ])
  })
})

test('the first word alone lists the commands, and each has its help', async () => {
  const alone = await framework(project.folder, ['queue'])
  expect([alone.code, alone.stdout]).toEqual([2, expect.stringMatching(/^ {2}queue list +\S/m)])
  expect(alone.stdout).not.toContain('generate-queue')
  for (const argv of [
    ['queue', '--help'],
    ['help', 'queue'],
  ])
    expect(await framework(project.folder, argv)).toEqual({ ...alone, code: 0 })
  const help = await framework(project.folder, ['help', 'queue', 'retry'])
  expect([help.code, help.stdout]).toEqual([
    0,
    expect.stringMatching(/^Usage: framework queue retry <queue> \[ids\.\.\.\] \[options\]\n/),
  ])
})
