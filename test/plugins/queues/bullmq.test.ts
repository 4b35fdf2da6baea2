import { describe, test } from 'vitest'
import { testEngine } from '../../contracts/queue-engine.ts'
import { bullmq, serverOf } from '../../support/queue-engines.ts'

describe.skipIf(!bullmq.isThere)(bullmq.title, () => {
  const { config, prepare } = serverOf(bullmq)
  testEngine(config, { ...bullmq, test: test.concurrent, prepare })
})
