import { cron, RouteCollection, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { memoryLogger } from '../support/kernel.ts'
import { suiteOf } from '../support/protocols.ts'

// The other protocol has a file of its own: without a list, a service takes every class of its process.
const suite = (await suiteOf('imported-classes', 'standard')) as (protocol: string) => void
describe('standard', () => suite('standard'))

test('a job that was started and that nothing will ever run is reported once, by name and place', async () => {
  const job = cron('* * * * *', { name: 'never run' })
  await job.start(() => {})
  const logger = memoryLogger()
  const server = () => new Server({ router: new RouteCollection(), logger })
  const [first, second] = [server(), server()]
  await first.ready()
  await second.ready()
  expect(logger.entries).toEqual([
    {
      level: 'warn',
      fields: {},
      message: expect.stringMatching(
        /^the cron job "never run" \(\S*imported-classes\.test\.ts:\d+:\d+\) was started, but nothing in this process runs it: .*CronService\.run\(\)$/,
      ),
    },
  ])
  job.destroy()
  await Promise.all([first.close(), second.close()])
})
