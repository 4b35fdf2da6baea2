import { afterAll, beforeAll, describe, test } from 'vitest'
import { type EngineUnderTest, lackedByAll, portableCases, runCase } from './portable/index.mjs'

/** An engine whose server has to be started. */
export interface StartedEngine extends Omit<EngineUnderTest, 'config'> {
  start(): Promise<EngineUnderTest['config']>
  stop(): Promise<void>
}

/** What `queue(name)` promises on every engine, whatever the configuration names. */
export function testPortable({ start, stop, ...engine }: StartedEngine): void {
  describe('the portable queue', () => {
    let config: EngineUnderTest['config']
    beforeAll(async () => {
      config = await start()
    })
    afterAll(stop)

    const own = { lacks: lackedByAll, ...engine }
    for (const one of portableCases(own)) test(one.name, () => runCase({ ...own, config }, one))
  })
}
