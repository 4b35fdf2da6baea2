import { memoryQueue } from 'framework'
import { describe, test } from 'vitest'
import { ownEngine } from '../../contracts/portable/index.mjs'
import { testQueueEngine } from '../../contracts/queue-engine.ts'

describe('memory', () => {
  testQueueEngine(() => ({ memory: {} }), {
    ...{ test, kind: 'memory' },
    queue: (name, options) => memoryQueue<unknown>(name, options),
  })
})

describe('an engine of the application', () => testQueueEngine(ownEngine, { test }))
