import { memoryQueue } from 'framework'
import { describe } from 'vitest'
import { testEngine } from '../../contracts/queue-engine.ts'

describe('memory', () => {
  testEngine({
    kind: 'memory',
    start: async () => ({ memory: {} }),
    stop: async () => {},
    queue: (name, options) => memoryQueue<unknown>(name, options),
    attempts: (attempts, delay) => ({ attempts, backoff: { type: 'fixed', delay } }),
    delay: (delay) => ({ delay }),
    once: (id) => ({ id }),
    priority: (priority) => ({ priority }),
    isOrdered: true,
    shortest: 300,
  })
})
