import { setTimeout as pause } from 'node:timers/promises'
import { Server } from 'framework'

const server = new Server()

// Server-sent events: any async iterable of strings or of { data, event?, id?, retry? }.
server.get('/clock', (req, res) =>
  res.sse(
    (async function* clock() {
      for (let tick = 1; tick <= 3 && !req.signal.aborted; tick++) {
        yield { event: 'tick', id: String(tick), data: { tick } }
        await pause(100)
      }
    })(),
  ),
)

// Bytes as they come: a web stream, a Node stream or an async iterable, with backpressure.
server.get('/lines', (_req, res) => {
  async function* lines() {
    for (let line = 1; line <= 1000; line++) yield `line ${line}\n`
  }
  res.type('text').stream(lines())
})

// Serves files of this folder only.
server.get('/files/*', (req, res) => res.file(req.params['*'], { root: import.meta.dirname }))

await server.listen(() => console.log(`${server.url}/clock`))
