import { type Request, Server } from 'framework'

// Started by stores.test.ts, which kills it while requests run.
const server: Server = new Server({
  port: 0,
  plugins: {
    database: { url: process.argv[2]! },
    idempotency: { store: 'database', scope: (req: Request) => req.headers['x-user'] },
  },
})
let pause = 0
server.post('/', { idempotency: true, transaction: true }, async (req) => {
  await req.database.query('insert into orders (name) values ($1)', [req.headers['idempotency-key']])
  pause += 5
  await new Promise((resolve) => setTimeout(resolve, pause))
  return 'ok'
})
const { port } = await server.listen()
console.log(`http://127.0.0.1:${port}/`)
