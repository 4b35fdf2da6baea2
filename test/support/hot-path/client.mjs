import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

// Sends a request so many times over some connections; each of them waits for the response before it sends the next one.

const { port, connections } = workerData
let text = ''
let unsent = 0
/** How many connections are at work. */
let busy = 0
/** The length of a response: the same request always has one of the same length. */
let length = 0

/** @param {Buffer} chunk */
function lengthOf(chunk) {
  const answer = chunk.toString('latin1')
  const declared = /content-length: (\d+)/i.exec(answer)?.[1]
  if (!answer.startsWith('HTTP/1.1 200 ') || declared === undefined) throw new Error(`not the response:\n${answer}`)
  return answer.indexOf('\r\n\r\n') + 4 + Number(declared)
}

const sockets = Array.from({ length: connections }, () => {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  let received = 0
  socket.on('connect', () => {
    if (++busy === connections) parentPort?.postMessage('connected')
  })
  socket.on('data', (chunk) => {
    if (length === 0) length = lengthOf(chunk)
    received += chunk.length
    if (received < length) return
    received = 0
    if (unsent > 0) {
      unsent--
      socket.write(text)
    } else if (--busy === 0) parentPort?.postMessage('answered')
  })
  return socket
})

parentPort?.on('message', ({ text: request, times }) => {
  text = request
  length = 0
  busy = Math.min(times, connections)
  unsent = times - busy
  for (const socket of sockets.slice(0, busy)) socket.write(text)
})
