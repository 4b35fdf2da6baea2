import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandOf, targets } from '../conformance/targets.ts'
import { makeProject, type Project, runIn } from '../support/cli.ts'
import { isLong } from '../support/long.ts'

let project: Project
beforeAll(() => {
  project = makeProject({
    'src/server.ts': `import { cron, memoryQueue, Server } from 'framework'
await memoryQueue('emails').subscribe(() => {})
export const server = new Server()
server.get('/books', function listBooks() {})
`,
    'src/commands/greet.ts': `import { Command, type CommandInput } from 'framework'
import { server } from '../server.ts'
export class Greet extends Command {
  readonly name = 'greet'
  readonly description = 'Greets someone'
  override readonly arguments = [{ name: 'who', required: true }] as const
  override readonly flags = { loud: { type: 'boolean', short: 'l' } } as const
  async run({ arguments: { who }, flags, print, boot }: CommandInput<this>) {
    const { plugins } = await boot(server)
    print((flags.loud ? who.toUpperCase() : who) + ' ' + plugins.name)
  }
}
`,
  })
})
afterAll(() => project.remove())

describe.each(
  targets
    .filter(({ runtime, adapter }) => adapter === undefined && (isLong || !runtime.startsWith('node')))
    .map((target) => [target.name, target] as const),
)('on %s', (_name, target) => {
  const run = (...args: string[]) =>
    runIn(project.folder, [...commandOf(target), 'node_modules/framework/dist/cli/index.js', ...args])

  test('commands of the application run, and the others about it', async () => {
    const greeted = await run('greet', 'Ada', '--loud')
    expect([greeted.code, greeted.stdout]).toEqual([0, 'ADA root\n'])
    const [route] = JSON.parse((await run('routes', '--json')).stdout) as [{ at: string }]
    expect(route.at).toMatch(/^src\/server\.ts:4:/)
    const explained = await run('explain', 'PUT', '/books')
    expect([explained.code, explained.stderr]).toEqual([1, 'PUT /books responds with 405: the path has GET\n'])
  })

  test('the queues are listed, and nothing of them runs', async () => {
    const { code, stdout } = await run('queue', 'list', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([0, [{ queue: 'emails', kind: 'memory', subscribers: 1 }]])
    const failed = await run('queue', 'retry', 'email', '--all')
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/there is no queue "email"\. Did you mean "emails"\?\n/),
    ])
  })

  test('a command without jobs to run says so', async () => {
    const { code, stderr } = await run('cron-start')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^src\/server\.ts has no cron jobs/)])
  })
})
