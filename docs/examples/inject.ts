import assert from 'node:assert/strict'
import { RouteCollection, Server } from 'framework'

const routes = new RouteCollection()
routes.get('/sum/:a/:b', (req) => Number(req.params.a) + Number(req.params.b))

// No socket and no port: the same pipeline, in process. The first request boots the server.
await using server = new Server({ router: routes })

const sum = await server.inject.get('/sum/1/2')
sum.assertStatus(200).assertHeader('content-type', 'application/json; charset=utf-8').assertBodyDeepEqual(3)

const missing = await server.inject.get('/product/1/2')
missing.assertStatus(404).assertBodySubset({ code: 'RouteNotFoundError' })

// Web requests work, too: `server.fetch` is what a fetch handler of any platform calls.
const response = await server.fetch(new Request('http://localhost/sum/20/3'))
assert.equal(await response.json(), 23)

console.log('all as expected')
