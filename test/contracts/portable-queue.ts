import { type EngineUnderTest, lackedByAll, portableCases, runCase } from './portable/index.mjs'

/** An engine, and the function of a runner that declares a test. */
export interface PortableOptions extends Omit<EngineUnderTest, 'config'> {
  test(name: string, run: () => Promise<void>): unknown
}

/** What `queue(name)` promises on every engine; the configuration is asked for by each test, when it runs. */
export function testPortable(config: () => EngineUnderTest['config'], { test, ...engine }: PortableOptions): void {
  const own = { lacks: lackedByAll, ...engine }
  for (const one of portableCases(own))
    test(`the portable queue: ${one.name}`, () => runCase({ ...own, config: config() }, one))
}
