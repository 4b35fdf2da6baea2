import { router, Server } from 'framework'

router.get('/', () => ({ hello: 'from one file' }))

const server = new Server({ plugins: { helmet: true, health: true } })
await server.listen(() => console.log(server.url))
