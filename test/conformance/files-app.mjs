import { RouteCollection, Server } from 'framework'

/**
 * Serves a folder and takes uploads to disk.
 *
 * @param {{ root: string, folder: string } & import('framework').ServerOptions} given
 */
export async function start({ root, folder, ...options }) {
  /** What must not happen. @type {string[]} */
  const events = []

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
    router: new RouteCollection(),
    ...options,
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
  return { port, events, stop: () => server.close() }
}
