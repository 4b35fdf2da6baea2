import { describe, test } from 'vitest'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { serverOf, sqs } from '../../support/queue-engines.ts'

describe.skipIf(!sqs.isThere)(sqs.title, () => {
  const { config, prepare } = serverOf(sqs)
  testQueueEngine(config, { ...sqs, test: test.concurrent, prepare })
})
