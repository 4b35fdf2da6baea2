/** Responds to one request, and prints which of the modules of `fetch` and HTTPS the runtime has loaded for that. */
export const lean = `
import { Server } from 'framework'

const server = new Server({ port: 0, host: '127.0.0.1' })
server.get('/', () => ({ hello: 'world' }))
const { port } = await server.listen()
const status = await new Promise((resolve) => {
  process.getBuiltinModule('node:http').get({ port, host: '127.0.0.1' }, (response) => resolve(response.statusCode))
})
if (status !== 200) throw new Error('the response is ' + status)
const loaded = process.moduleLoadList.filter((name) => /undici|fetch|NativeModule (https|tls)$/.test(name))
if (process.argv[1].endsWith('lean.mjs')) console.log(JSON.stringify(loaded))
await server.close()
`
