import { expect, test } from 'vitest'
import { Availability } from '../../../../plugins/shared/stores/availability.ts'

test('each change is reported once', () => {
  const reports: unknown[] = []
  const availability = new Availability((isDown, error) =>
    reports.push([isDown, (error as Error | undefined)?.message]),
  )
  availability.works()
  availability.fails(new Error('first'))
  availability.fails(new Error('second'))
  expect(availability.isDown).toBe(true)
  availability.works()
  availability.works()
  availability.fails(new Error('third'))
  expect(reports).toEqual([
    [true, 'first'],
    [false, undefined],
    [true, 'third'],
  ])
})
