// Opens connections, sends one request on each, and keeps them open. It ends when one of them is closed.
import { connect } from 'node:net'

const [port, path, count] = /** @type {[string, string, string]} */ (process.argv.slice(2))
const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`

/** Opens one and waits for its response. */
const open = () =>
  new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(request))
    socket.once('data', resolve)
    for (const event of ['error', 'close']) {
      socket.once(event, () => {
        console.error(`a connection to port ${port}: ${event} after ${Math.round(performance.now())} ms`)
        process.exit(1)
      })
    }
  })

// A hundred at a time: more would fill the queue of the listening socket.
for (let left = Number(count); left > 0; left -= 100)
  await Promise.all(Array.from({ length: Math.min(left, 100) }, open))
console.log('open')
