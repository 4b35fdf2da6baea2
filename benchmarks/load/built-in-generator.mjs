// Stands in for wrk: as many persistent connections, each with one request at a time. It uses bare sockets, because
// node's own client costs more than the servers that it would load.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'

const url = new URL(process.argv[2] ?? '')
const bodyFile = process.env.BENCH_BODY ?? ''
const body = bodyFile === '' ? '' : readFileSync(bodyFile, 'utf8')
const seconds = Number(process.env.BENCH_SECONDS)
const pipelining = Number(process.env.BENCH_PIPELINING)
const heads = (process.env.BENCH_HEADERS ?? '').split('\n').filter((line) => line !== '')
if (body !== '') heads.push(`Content-Length: ${Buffer.byteLength(body)}`)
const batches = (process.env.BENCH_PATHS ?? '').split('\n').map((path) => {
  const head = [`${process.env.BENCH_METHOD} ${path} HTTP/1.1`, `Host: ${url.host}`, ...heads].join('\r\n')
  return Buffer.from(`${head}\r\n\r\n${body}`.repeat(pipelining))
})
let turn = 0
const nextBatch = () => batches[turn++ % batches.length] ?? Buffer.alloc(0)

let requests = 0
let running = true
/** @type {import('node:net').Socket[]} */
const sockets = []

/** @param {unknown} reason */
function fail(reason) {
  if (!running) return
  console.error(`${url}: ${reason}`)
  process.exit(1)
}

/** Returns the length of the first complete answer in a text, or `0` if it is incomplete. @param {string} text */
function answerLength(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return 0
  if (!text.startsWith('HTTP/1.1 2')) fail(text.slice(0, 60))
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2))?.[1]
  if (length === undefined) fail('a response without content-length')
  const whole = end + 4 + Number(length)
  return text.length < whole ? 0 : whole
}

for (let i = 0; i < Number(process.env.BENCH_CONNECTIONS); i++) {
  const socket = connect(Number(url.port), url.hostname, () => socket.write(nextBatch()))
  let pending = ''
  let answered = 0
  socket.setEncoding('latin1')
  socket.setNoDelay(true)
  socket.on('data', (/** @type {string} */ chunk) => {
    pending += chunk
    for (let length = answerLength(pending); length > 0; length = answerLength(pending)) {
      pending = pending.slice(length)
      requests++
      answered++
    }
    if (answered < pipelining) return
    answered = 0
    if (running) socket.write(nextBatch())
  })
  socket.on('error', fail)
  socket.on('close', () => fail('the server closed a connection'))
  sockets.push(socket)
}

const start = performance.now()
setTimeout(() => {
  running = false
  const elapsed = (performance.now() - start) / 1000
  console.log(JSON.stringify({ requests, perSecond: requests / elapsed }))
  for (const socket of sockets) socket.destroy()
}, seconds * 1000)
