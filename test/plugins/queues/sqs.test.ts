import { describe, test } from 'vitest'
import { testEngine } from '../../contracts/queue-engine.ts'
import { serverOf, sqs } from '../../support/queue-engines.ts'

describe.skipIf(!sqs.isThere)(sqs.title, () => {
  const { config, prepare } = serverOf(sqs)
  testEngine(config, { ...sqs, test: test.concurrent, prepare })
})
