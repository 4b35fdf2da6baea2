import { channel } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { heldChannel } from '../../../../plugins/shared/development/held-channel.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

test('a channel that was left is the same for the next subscriber, whatever the garbage collector does', async () => {
  const leave = (name: string) => {
    const nothing = () => {}
    heldChannel(name).subscribe(nothing)
    heldChannel(name).unsubscribe(nothing)
  }
  let heard = 0
  for (let i = 0; i < 3; i++) {
    const name = `framework:test.${i}`
    leave(name)
    await pause(1)
    // Collected, and subscribed to again before it was forgotten.
    await new Promise<void>((resolve) =>
      setImmediate(() => {
        collect()
        heldChannel(name).subscribe(() => heard++)
        resolve()
      }),
    )
    await pause(5)
    collect()
    await pause(5)
    channel(name).publish({})
  }
  expect(heard).toBe(3)
})
