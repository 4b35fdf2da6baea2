import { definePlugin, Server } from 'framework'

interface Visit {
  path: string
  ms: number
}

/** Remembers the last answered requests. */
class Visits {
  readonly recent: Visit[] = []
  readonly #keep: number

  constructor(keep: number) {
    this.#keep = keep
  }

  add(visit: Visit): void {
    this.recent.unshift(visit)
    this.recent.length = Math.min(this.recent.length, this.#keep)
  }
}

const visits = definePlugin({
  name: 'visits',
  // Synchronous, without I/O: the service exists as soon as the plugin is registered.
  provide: (options: { keep: number }) => ({ visits: new Visits(options.keep) }),
})

const server = new Server({ plugins: [visits({ keep: 10 })] })

// Typed by what the plugins above provide.
const service = server.services.visits

const observe = definePlugin({
  name: 'observe',
  dependencies: ['visits'],
  setup(ctx) {
    ctx.onResponse((req, _res, ms) => service.add({ path: req.path, ms }))
  },
})

server.register(observe())
server.get('/', () => 'hello')
server.get('/visits', () => service.recent.map((visit) => visit.path))

await server.listen(() => console.log(`${server.url}/visits`))
