import { HttpError, RouteCollection, Server } from 'framework'

const server = new Server({ port: 0, host: '127.0.0.1', router: new RouteCollection(), exposeErrorDetails: 'auto' })
server.get('/mistake', () => {
  throw new Error('a mistake')
})
server.get('/missing', () => {
  throw new HttpError(404)
})
const { port } = await server.listen()
const answers = []
for (const path of ['/mistake', '/missing', '/unknown']) {
  const res = await fetch(`http://127.0.0.1:${port}${path}`)
  answers.push([res.status, await res.text()])
}
console.log(JSON.stringify(answers))
await server.close()
