import { expect, test } from 'vitest'
import { publishOptions } from '../../../plugins/shared/engines/publish-options.ts'

test('the options that every engine has become those of the engine', () => {
  const given = { attempts: 1, backoff: { type: 'exponential', delay: 1500 } } as const
  expect(publishOptions.pgboss.parse({ ...given, priority: 3, delay: 10 }).native).toEqual({
    ...{ retryLimit: 0, retryDelay: 2, retryBackoff: true, priority: -3, delay: 10 },
  })
  expect(publishOptions.sqs.parse({ ...given, delay: 5000 }).native).toEqual({ DelaySeconds: 5 })
})

test('an engine has its own options beside them', () => {
  expect(publishOptions.pgboss.parse({ attempts: 3, retryDelay: 5 }).native).toEqual({ retryLimit: 2, retryDelay: 5 })
  expect(publishOptions.sqs.parse({ delay: 1, MessageGroupId: 'a' }).native).toEqual({
    ...{ DelaySeconds: 1, MessageGroupId: 'a' },
  })
})
