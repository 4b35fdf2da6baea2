import { definePlugin, Server } from 'framework'

class Counter {
  #count = 0
  next() {
    return ++this.#count
  }
}

declare module 'framework' {
  interface Services {
    counter: Counter
  }
}

const counter = definePlugin({
  name: 'counter',
  provide: () => ({ counter: new Counter() }),
  setup(ctx, options: { path: string }) {
    const counter = ctx.services.get('counter')
    ctx.get(options.path, () => ({ count: counter.next() }))
  },
})

const server = new Server({ plugins: [counter({ path: '/next' })] })
server.services.counter.next()
await server.listen(() => console.log(`${server.url}/next`))
