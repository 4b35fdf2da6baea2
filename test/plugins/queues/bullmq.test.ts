import { describe, test } from 'vitest'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { bullmq, serverOf } from '../../support/queue-engines.ts'

describe.skipIf(!bullmq.isThere)(bullmq.title, () => {
  testQueueEngine(serverOf(bullmq).config, { ...bullmq, test: test.concurrent })
})
