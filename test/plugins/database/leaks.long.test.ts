import { afterAll, beforeAll, describe, test } from 'vitest'
import type { OwnServer } from '../../support/own-server.ts'
import { hasPostgres, startPostgres } from '../../support/postgres.ts'
import { leakNothing } from './leaks.ts'

describe.skipIf(!hasPostgres)('requests of which a third are aborted and a third fail', () => {
  let postgres: OwnServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  for (const driver of ['pg', 'postgres'] as const)
    test(
      `${driver}: 10 000 of them leave no connection taken`,
      () => leakNothing(postgres.url, driver, 10_000),
      240_000,
    )
})
