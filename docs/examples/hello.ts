import { router, Server } from 'framework'

router.get('/hello/:name?', (req) => ({ hello: req.params.name ?? 'world' }))

const server = new Server()
await server.listen(() => console.log(`${server.url}/hello`))
