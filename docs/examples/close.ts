import { setTimeout as pause } from 'node:timers/promises'
import { definePlugin, Server } from 'framework'

const worker = definePlugin({
  name: 'worker',
  setup(ctx) {
    let beats = 0
    let timer: NodeJS.Timeout | undefined
    // Only once the socket is bound: tests through inject do not start the worker.
    ctx.onListen(() => {
      timer = setInterval(() => beats++, 10)
    })
    ctx.onClose(() => {
      clearInterval(timer)
      console.log(beats > 0 ? 'the worker is stopped' : 'the worker never ran')
    })
  },
})

const server = new Server({ plugins: [worker()], closeTimeout: 5_000 })
server.get('/slow', async () => {
  await pause(500)
  return 'answered all the same'
})

// SIGTERM and SIGINT close the server: requests in flight are answered, then the close hooks run, then the process ends.
await server.listen(() => console.log(`${server.url}/slow, then Ctrl-C`))
