import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ask, describeAbuse, endTwice, onLinux, patient, pressed, until } from './abuse.ts'
import { measured, startApp, targets } from './targets.ts'

// The short form. Ten times as many are in the long form.
describeAbuse({ slow: 250, deaf: 20, gone: 300, left: 100, silent: 30 })

// Not on Deno's `node:http`, which fails by then; and one test covers `node:http` of Node.js.
describe.each(measured)('few descriptors on $name', (target) => {
  test.runIf(onLinux)(
    'GS-12 as many clients as there is room for are served, and all again when there is room',
    async () => {
      const app = await startApp(target, {}, { descriptors: 128 })
      try {
        let answered = 0
        const sockets = Array.from({ length: 500 }, () => {
          const socket = connect(app.port, '127.0.0.1')
          socket
            .on('error', () => {})
            .once('data', () => {
              answered++
            })
          socket.write('GET /hello HTTP/1.1\r\nHost: x\r\n\r\n')
          return socket
        })
        expect(
          await until(
            () => answered,
            (count) => count >= 90,
            30_000,
          ),
        ).toBeGreaterThanOrEqual(90)
        for (const socket of sockets) socket.destroy()
        const alive = () => ask(app.port, '/events').catch((error: Error) => error.message)
        await expect.poll(alive, { timeout: 30_000, interval: 100 }).toBe('[]')
      } finally {
        await app.stop()
      }
    },
  )
})

for (const target of targets.filter((one) => !pressed.includes(one)))
  test(`GS-02 a second signal ends the process at once: ${target.name}`, async () => {
    const app = await startApp(target, patient)
    try {
      await endTwice(app)
    } finally {
      await app.stop()
    }
  })
