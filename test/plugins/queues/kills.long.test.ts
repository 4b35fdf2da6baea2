import { describe, expect, test } from 'vitest'
import { serverOf } from '../../support/queue-engines.ts'
import { killedEngines, killRounds } from '../../support/queue-kills.ts'

// Two hundred rounds for each engine; SEED repeats those that have failed.

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 30))

for (const engine of killedEngines)
  describe(engine.kind, { concurrent: true, skip: !engine.isThere }, () => {
    const { server } = serverOf(engine)

    test.sequential.each(
      [...Array(8).keys()].map((i) => seed + i),
    )('loses no accepted message, seed %i', async (own) => {
      const report = await killRounds(engine, server(), own, { rounds: 25, workers: 3, publishers: 2 })
      console.log(engine.kind, own, JSON.stringify(report))
      expect(report.handled).toBeGreaterThanOrEqual(report.accepted)
    })
  })
