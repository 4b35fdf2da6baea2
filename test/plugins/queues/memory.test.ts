import { describe, test } from 'vitest'
import { testQueueEngine } from '../../contracts/queue-engine.ts'
import { memory, own, serverOf } from '../../support/queue-engines.ts'

for (const engine of [memory, own])
  describe(engine.title, () => {
    testQueueEngine(serverOf(engine).config, { ...engine, test: test.concurrent })
  })
