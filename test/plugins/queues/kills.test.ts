import { describe, expect, test } from 'vitest'
import { serverOf } from '../../support/queue-engines.ts'
import { killedEngines, killRounds } from '../../support/queue-kills.ts'

// kills.long.test.ts has more rounds and processes; SEED repeats those that have failed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const rounds = Number(process.env.ROUNDS ?? 6)

// Side by side: most of the time both wait for what is stopped.
for (const engine of killedEngines)
  describe(engine.kind, { concurrent: true, skip: !engine.isThere }, () => {
    const { server } = serverOf(engine)

    test('loses no accepted message while publishers, workers and the server die and stop', async () => {
      const { accepted, handled } = await killRounds(engine, server(), seed, { rounds, workers: 2, publishers: 1 })
      expect(accepted).toBeGreaterThan(rounds)
      expect(handled).toBeGreaterThanOrEqual(accepted)
    })
  })
