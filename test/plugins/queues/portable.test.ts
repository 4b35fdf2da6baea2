import { describe, test, vi } from 'vitest'
import { testPortableQueue } from '../../contracts/portable-queue.ts'
import { queueEngines, serverOf } from '../../support/queue-engines.ts'

// The cases of all engines side by side: each has servers and queues of its own, and waits most of the time.
vi.setConfig({ maxConcurrency: 16 })

for (const engine of queueEngines)
  describe(engine.title, { concurrent: true, skip: !engine.isThere }, () => {
    const { config, prepare } = serverOf(engine)
    testPortableQueue(config, { ...engine, test, prepare })
  })
