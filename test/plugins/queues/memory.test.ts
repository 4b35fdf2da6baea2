import { describe, test } from 'vitest'
import { testEngine } from '../../contracts/queue-engine.ts'
import { memory, serverOf } from '../../support/queue-engines.ts'

describe(memory.title, () => {
  testEngine(serverOf(memory).config, { ...memory, test: test.concurrent })
})
