import process from 'node:process'
import { Server } from 'framework'

// Serves the folder of the first argument and takes uploads to disk; prints its port as one line of JSON.
/** @type {{ root: string, folder: string, adapter?: 'node' }} */
const { root, folder, adapter } = JSON.parse(process.argv[2] ?? '{}')
/** What must not happen. @type {string[]} */
const events = []
process.on('uncaughtException', (error) => events.push(`uncaughtException ${error?.stack ?? error}`))
process.on('unhandledRejection', (error) => events.push(`unhandledRejection ${error}`))

const quiet = () => {}
/** @type {any} */
const logger = {
  debug: quiet,
  info: quiet,
  warn: quiet,
  error: (/** @type {unknown} */ fields, /** @type {string} */ message) => events.push(`error ${message ?? fields}`),
  child: () => logger,
}
const server = new Server({
  port: 0,
  host: '127.0.0.1',
  logger,
  drainWindow: 0,
  ...(adapter && { adapter }),
  plugins: {
    static: [{ root }, { root, prefix: '/assets' }],
    upload: { storage: 'disk', folder, maxFileSize: '2mb' },
  },
})
server.get('/events', () => events)
server.post('/upload', (req) => ({
  body: req.body,
  files: req.files.map(({ field, filename, mimeType, size }) => [field, filename, mimeType, size]),
}))
server.post('/stream', (req, res) => {
  const file = req.file('f')
  return file === undefined ? res.badRequest() : res.stream(file.stream())
})
server.post('/file', (req, res) => res.file(req.file('f')?.path ?? ''))
server.post('/bytes', (req) => req.file('f')?.bytes().length)
server.get('/sent/:name', (req, res) => res.file(req.params.name, { root }))
server.post('/memory', { upload: { storage: 'memory' } }, (req) => req.file('f')?.bytes().length)

const { port } = await server.listen()
console.log(JSON.stringify({ port }))
