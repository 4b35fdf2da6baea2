import process from 'node:process'
import { Server } from 'framework'

// Validation and response schemas on whichever runtime runs this: prints what its requests got, as one line of JSON.
const quiet = () => {}
/** @type {any} */
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
const options = process.argv[2] === undefined ? {} : { adapter: /** @type {'node'} */ (process.argv[2]) }
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

const { port } = await server.listen()
/** @type {(path: string, body?: string) => Promise<unknown>} */
const ask = async (path, body) => {
  const init = body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return [response.status, await response.text()]
}
const answers = [
  await ask('/books', '{"title":"a","year":1,"at":"2024-01-01T00:00:00Z","isAdmin":true}'),
  await ask('/books', '{"title":5,"at":"never"}'),
  await ask('/books/1'),
  await ask('/books/x'),
  await ask('/books/2'),
]
await server.close()
console.log(JSON.stringify(answers))
