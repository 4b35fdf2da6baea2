import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** One kind of request; resolves when it is over, and rejects when it ended in another way than it should. */
type Kind = (client: Client, i: number) => Promise<void>

interface Client {
  readonly agent: Agent
  readonly port: number
}

const part = '--b\r\nContent-Disposition: form-data; name="f"; filename="f.bin"\r\n\r\n'
const form = (size: number) => `${part}${'x'.repeat(size)}\r\n--b--\r\n`
const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
const json = { 'content-type': 'application/json' }

/** Sends one request and expects a status. */
function ask(
  { agent, port }: Client,
  expected: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = { agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } }
    const sending = request(options, (response) => {
      response.resume()
      response.on('error', reject).on('end', () => {
        if (response.statusCode === expected) resolve()
        else reject(new Error(`${method} ${path}: ${response.statusCode} in place of ${expected}`))
      })
    })
    sending.on('error', (error) => reject(new Error(`${method} ${path}: ${error.message}`))).end(body)
  })
}

/** Sends bytes and leaves after a moment, whatever comes back. */
function leave({ port }: Client, bytes: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes)
      setTimeout(() => socket.destroy(), ms)
    })
    socket.on('error', () => {}).on('close', () => resolve())
    socket.resume()
  })
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** Answers, errors, uploads, aborts and the cache, in turn. */
const kinds: readonly Kind[] = [
  (client, i) => ask(client, 200, `/users/${i}?a=${i}&b=${i}`),
  (client, i) => ask(client, 200, '/large', { headers: { 'accept-encoding': ['gzip', 'br', 'identity'][i % 3]! } }),
  (client, i) => ask(client, 200, '/checked', { method: 'POST', headers: json, body: `{"n":${i}}` }),
  (client, i) => ask(client, 200, `/cached/${i % 50}`),
  (client) => ask(client, 422, '/checked', { method: 'POST', headers: json, body: '{"n":"x"}' }),
  (client, i) => ask(client, 404, `/nowhere/${i}`),
  (client) => ask(client, 500, '/throw'),
  (client) => ask(client, 200, '/visits'),
  (client) => ask(client, 200, '/upload', { method: 'POST', headers: multipart, body: form(20_000) }),
  (client, i) =>
    ask(client, 204, `/users/${i}`, {
      method: 'OPTIONS',
      headers: { origin: 'http://a.test', 'access-control-request-method': 'GET' },
    }),
  (client, i) => ask(client, 200, `/users/${i}`, { method: 'HEAD' }),
  (client) => ask(client, 400, '/checked', { method: 'POST', headers: json, body: '{"n":' }),
  (client) => ask(client, 413, '/upload', { method: 'POST', headers: multipart, body: form(150_000) }),
  (client) => ask(client, 500, '/reject'),
  (client) => ask(client, 405, '/large', { method: 'DELETE' }),
  (client) => ask(client, 200, '/stream'),
  (client) => leave(client, get('/slow'), 5),
  (client) => leave(client, get('/endless'), 10),
  (client) =>
    leave(
      client,
      `POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: ${multipart['content-type']}\r\nContent-Length: 90000\r\n\r\n${part}half`,
      5,
    ),
  (client) => leave(client, 'GET / HTTP/1.1\r\nHost: x y\r\nrubbish\r\n\r\n', 5),
]

/** How many requests at a time, and how many a second at the most. */
export interface Pace {
  readonly clients: number
  readonly rate?: number
}

/** Sends requests of all kinds, one after the other for each client; returns the failures. */
export async function load(port: number, count: number, { clients, rate }: Pace): Promise<string[]> {
  const client: Client = { port, agent: new Agent({ keepAlive: true, maxSockets: clients }) }
  const failures: string[] = []
  const start = performance.now()
  let next = 0
  const run = async () => {
    for (let i = next++; i < count; i = next++) {
      if (rate !== undefined) {
        const ahead = start + (i * 1000) / rate - performance.now()
        if (ahead > 1) await pause(ahead)
      }
      await kinds[i % kinds.length]!(client, i).catch((error: unknown) => failures.push(String(error)))
    }
  }
  await Promise.all(Array.from({ length: clients }, run))
  client.agent.destroy()
  return failures
}
