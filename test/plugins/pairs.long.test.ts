import { expect, test } from 'vitest'
import { channelsInPairs, cronInPairs, mqttInPairs, queuesInPairs } from '../support/pairs.ts'

// The suites of the plugins have the short form, with twenty or a hundred pairs.
test.each([
  ['queues', queuesInPairs],
  ['mqtt', mqttInPairs],
  ['channels', channelsInPairs],
  ['cron, with all servers open at the same time', cronInPairs],
])('1000 pairs of servers in one process, %s: no message crosses', { timeout: 1_200_000 }, async (_name, run) => {
  await expect(run(1000)).resolves.toBeUndefined()
})
