import { expect, test } from 'vitest'
import { Poller } from '../../../plugins/shared/engines/poller.ts'

test('a poller that is woken while it asks asks again: the response may be older than the message', async () => {
  const host = { up() {}, down() {}, warn() {} }
  let asked = 0
  let handled!: () => void
  const done = new Promise<void>((resolve) => {
    handled = resolve
  })
  const poller = new Poller({
    topic: 'orders',
    concurrency: 1,
    idle: 60_000,
    host,
    async take() {
      asked++
      // A message is published after the engine has looked, and before its response is here.
      if (asked === 1) poller.wake()
      return asked === 2 ? [async () => handled()] : []
    },
  })
  await done
  expect(asked).toBeGreaterThanOrEqual(2)
  await poller.stop()
  await poller.ended
})
