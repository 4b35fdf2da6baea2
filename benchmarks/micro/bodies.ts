import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Busboy } from '@fastify/busboy'
import { Ajv } from 'ajv'
import { order } from '../load/suites.ts'
import type { Built } from './built.ts'
import type { MicroCase } from './harness.ts'

const string = { type: 'string' } as const
const orderSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    customer: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 }, email: string, street: string, city: string },
      required: ['name', 'email', 'street', 'city'],
    },
    lines: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          sku: string,
          title: string,
          price: { type: 'number' },
          quantity: { type: 'integer', minimum: 1 },
        },
        required: ['sku', 'title', 'price', 'quantity'],
      },
    },
  },
  required: ['id', 'customer', 'lines'],
} as const

const line = order.lines[0]!
const orderOf = (lines: number) => ({
  ...order,
  lines: Array.from({ length: lines }, (_, i) => ({ ...line, sku: `SKU-${i}` })),
})
const sizes = [
  ['1 KB', JSON.stringify(order)],
  ['16 KB', JSON.stringify(orderOf(215))],
  ['1 MB', JSON.stringify(orderOf(13_500))],
] as const

const boundary = 'x'.repeat(30)
const form = Buffer.concat([
  Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n`,
  ),
  Buffer.alloc(1_000_000, 'abcdefgh\n'),
  Buffer.from(`\r\n--${boundary}--\r\n`),
])

/** The whole text of a request. */
function requestOf(path: string, type: string, body: Buffer): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

/** One connection over loopback, one request after the other. The client is the same for all, and a part of each figure. */
class Connection {
  readonly #socket: Socket
  #answered: (text: string) => void = () => {}

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setNoDelay().unref()
    // The answers are small: each comes in one piece.
    this.#socket.on('data', (chunk) => this.#answered(chunk.toString('latin1')))
  }

  async ask(request: Buffer, times: number): Promise<void> {
    for (let i = 0; i < times; i++) {
      const text = await new Promise<string>((resolve) => {
        this.#answered = resolve
        this.#socket.write(request)
      })
      if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(`the answer is ${text.slice(0, 200)}`)
    }
  }
}

function send(response: ServerResponse, value: unknown): void {
  const text = JSON.stringify(value)
  response.writeHead(200, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))])
  response.end(text)
}

function readJson(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    send(response, { lines: (JSON.parse(body.toString('utf8')) as typeof order).lines.length })
  })
}

/** Bare busboy, which keeps the file in memory as the plugin does. */
function readForm(request: IncomingMessage, response: ServerResponse): void {
  const busboy = new Busboy({ headers: request.headers as { 'content-type': string } })
  let size = 0
  busboy.on('file', (_field, stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      size = Buffer.concat(chunks).length
    })
  })
  busboy.on('finish', () => send(response, { size }))
  request.pipe(busboy)
}

async function handPort(): Promise<number> {
  const server = createServer((request, response) => (request.url === '/form' ? readForm : readJson)(request, response))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return (server.unref().address() as AddressInfo).port
}

/** Reading, decoding and parsing bodies; checking them, next to Ajv alone; uploads, next to bare busboy. */
export async function bodiesCases(built: Built): Promise<MicroCase[]> {
  const { RouteCollection, Server } = await built.door()
  const plugins = { json: { sizeLimit: '2mb' }, upload: { maxFileSize: '2mb' } }
  const server = new Server({ router: new RouteCollection(), port: 0, host: '127.0.0.1', plugins })
  server.post('/orders', (req) => ({ lines: (req.body as typeof order).lines.length }))
  server.post('/form', (req) => ({ size: req.files[0]!.size }))
  const { port } = await server.listen()
  const sides = { 'by hand': new Connection(await handPort()), framework: new Connection(port) }
  const requests = [
    ...sizes.map(([name, text]) => [name, requestOf('/orders', 'application/json', Buffer.from(text))] as const),
    ['upload, 1 MB', requestOf('/form', `multipart/form-data; boundary=${boundary}`, form)] as const,
  ]
  const read = requests.flatMap(([group, request]) =>
    Object.entries(sides).map(
      ([name, connection]): MicroCase => ({ group, name, run: (times) => connection.ask(request, times) }),
    ),
  )
  const alone = new Ajv({ useDefaults: true }).compile(orderSchema)
  const check = server.services.get('validation').compile(orderSchema, 'body', 'POST /orders', 'body')
  return [
    ...read,
    {
      group: 'validation, 1 KB',
      name: 'by hand',
      run(times) {
        for (let i = 0; i < times; i++) if (!alone(order)) throw new Error('the order is refused')
      },
    },
    {
      group: 'validation, 1 KB',
      name: 'framework',
      run(times) {
        for (let i = 0; i < times; i++) {
          const verdict = check(order)
          if (verdict instanceof Promise || !verdict.ok) throw new Error('the order is refused')
        }
      },
    },
  ]
}
