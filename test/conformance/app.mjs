import process from 'node:process'
import { definePlugin, Server } from 'framework'
import { defineError } from 'framework/kernel'
import { makeApp } from './fixture.mjs'
import { webBodies } from './web-bodies.mjs'

/** Starts the application, with `validates` also the routes for which a validator is loaded. @param {any} options */
export async function start({ validates = false, ...options }) {
  const { server, events } = makeApp(Server, options, import.meta.filename)
  if (validates) {
    // Every kind of value is valid.
    const body = { type: /** @type {const} */ (['object', 'array', 'string', 'number', 'boolean', 'null']) }
    server.post('/json/checked', { body }, (req) => ({ body: req.body }))
    server.query('/json', { body }, (req) => ({ asked: req.body }))
  }
  const StoreError = defineError('StoreError', 503, () => 'the store cannot be written')

  // Routes whose responses meet a hook that fails: with an error of the framework, or with `throw` by any other.
  server.register(
    definePlugin({
      name: 'failing',
      setup(ctx) {
        ctx.onSend(async (req) => {
          if (!req.path.startsWith('/on-send/')) return
          await new Promise((resolve) => setTimeout(resolve, Number(req.query.ms ?? 0)))
          throw req.path.endsWith('/throw') ? new Error('on purpose') : StoreError()
        })
        ctx.get('/on-send/value', () => ({ never: 'sent' }))
        ctx.get('/on-send/throw', () => ({ never: 'sent' }))
        ctx.post('/on-send/body', () => ({ never: 'sent' }))
        ctx.get('/on-send/stream', (_req, res) =>
          res.stream(new ReadableStream({ cancel: () => void events.push('stream let go') })),
        )
      },
    })(),
  )

  server.register(webBodies(events))

  // Prints begun requests to standard error: a closed server cannot be asked any more.
  server.post('/work/:id', async (req) => {
    process.stderr.write(`${req.params.id}\n`)
    await new Promise((resolve) => setTimeout(resolve, 150))
    return { id: req.params.id }
  })

  server.get('/listen-again', async () => {
    const { adapter } = options
    const second = new Server({ port, host: '127.0.0.1', gracefulShutdown: false, ...(adapter && { adapter }) })
    try {
      await second.listen()
      return 'listens'
    } catch (error) {
      return /** @type {any} */ (error).code
    } finally {
      await second.close()
    }
  })

  const { port } = await server.listen()
  return { port, events, stop: () => server.close() }
}
