import { connect } from 'node:net'
import { Server } from 'framework'

/**
 * Validation and response schemas on whichever runtime runs this. Returns the responses to its requests.
 *
 * @param {string} [adapter]
 */
export async function run(adapter) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const options = adapter ? { adapter: /** @type {'node'} */ (adapter) } : {}
  const server = new Server({ port: 0, host: '127.0.0.1', drainWindow: 0, gracefulShutdown: false, logger, ...options })

  const book = /** @type {const} */ ({
    type: 'object',
    properties: { title: { type: 'string' }, year: { type: 'integer' }, at: { type: 'string', format: 'date-time' } },
    required: ['title'],
  })
  server.post('/books', { body: book, responses: { 200: book } }, (req) => ({ ...req.body, secret: 'secret' }))
  server.get(
    '/books/:id',
    { params: { type: 'object', properties: { id: { type: 'integer' } } }, responses: { 200: book } },
    (req) => (req.params.id === 1 ? { title: 'one', secret: 'secret' } : { year: 'not a year', secret: 'secret' }),
  )

  const count = /** @type {const} */ ({
    type: 'object',
    properties: {
      'X-Count': { type: 'integer' },
      'x-tags': { type: 'array', items: { type: 'string' } },
      'x-mode': { enum: ['a', 'b'] },
    },
    required: ['X-Count'],
  })
  server.get('/headers', { headers: count }, ({ headers }) => [
    headers['x-count'],
    headers['x-tags'],
    headers['x-mode'],
  ])
  server.post('/all', { all: count }, (req) => req.validated)
  // Names that are code where someone forgets that they are not.
  const odd = ['"', "'", '`', '\n', '\\', '\u2028', '*/', '"];throw 1;//', 'constructor', 'toString']
  const oddNames = {
    type: 'object',
    properties: Object.fromEntries(odd.map((name) => [name, { type: 'string', const: name }])),
    required: odd,
  }
  server.post('/odd', { body: oddNames, responses: { 200: oddNames } }, (req) => ({
    .../** @type {object} */ (req.body),
    secret: 'secret',
  }))

  const tree = {
    $id: 'Tree',
    type: 'object',
    properties: { id: { type: 'string' }, nodes: { type: 'array', items: { $ref: '#' } } },
    required: ['id'],
  }
  server.post('/trees', { body: tree, responses: { 200: tree } }, (req) => req.body)
  const node = { type: 'object', properties: { n: { $ref: '#' } } }
  // Each level twice as much work.
  server.post('/twice', { body: { anyOf: [node, node, { type: 'null' }] } }, () => 'taken')

  const { port } = await server.listen()
  /** @type {(path: string, body?: string) => Promise<unknown>} */
  const ask = async (path, body) => {
    const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    return [response.status, await response.text()]
  }
  /** Sends header lines as they are: a client of a runtime would join or change them. @param {string} head @param {string[]} lines */
  const askRaw = (head, ...lines) =>
    new Promise((resolve, reject) => {
      let text = ''
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(`${[`${head} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`)
      })
      socket.setEncoding('utf8')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', reject)
      socket.on('close', () => resolve([Number(text.split(' ')[1]), text.slice(text.indexOf('\r\n\r\n') + 4)]))
    })
  const oddBody = Object.fromEntries(odd.map((name) => [name, name]))
  const answers = [
    await ask('/books', '{"title":"a","year":1,"at":"2024-01-01T00:00:00Z","isAdmin":true}'),
    await ask('/books', '{"title":5,"at":"never"}'),
    await ask('/books/1'),
    await ask('/books/x'),
    await ask('/books/2'),
    await askRaw('GET /headers', 'X-COUNT: 5', 'X-Tags: a', 'X-Tags: b', 'x-mode: a'),
    await askRaw('GET /headers'),
    await askRaw('GET /headers', 'x-count: 1', 'X-Count: 2'),
    await askRaw('GET /headers', 'x-count: five'),
    await askRaw('GET /headers', 'x-count: 1', 'X-Mode: a', 'x-mode: b'),
    await askRaw('POST /all?x-mode=b', 'X-COUNT: 5', 'X-Tags: a', 'x-tags: b', 'X-Other: c', 'Content-Length: 0'),
    await askRaw('POST /all', 'Content-Length: 0'),
    await askRaw('POST /all', 'x-count: 1', 'X-Count: 2', 'Content-Length: 0'),
    await askRaw('POST /all?X-Count=1&X-Count=2', 'Content-Length: 0'),
    await ask('/odd', JSON.stringify(oddBody)),
    await ask('/odd', JSON.stringify({ ...oddBody, constructor: undefined })),
    await ask('/trees', '{"id":"a","secret":1,"nodes":[{"id":"b","secret":1,"nodes":[{"id":"c"}]}]}'),
    await ask('/trees', '{"id":"a","nodes":[{"id":"b","nodes":[{"id":5}]}]}'),
    await ask('/twice', `${'{"n":'.repeat(40)}5${'}'.repeat(40)}`),
  ]
  await server.close()
  return answers
}
