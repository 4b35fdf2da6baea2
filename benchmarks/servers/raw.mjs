// The floor: node:http by hand, as fast as it goes without leaving its documented interface.
import { createServer } from 'node:http'
import { hello, port, receipt, scenario, user } from './routes.mjs'

/** @param {import('node:http').ServerResponse} response @param {unknown} value */
function send(response, value) {
  const text = JSON.stringify(value)
  response.writeHead(200, [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(Buffer.byteLength(text)),
  ])
  response.end(text)
}

/** @param {import('node:http').ServerResponse} response */
function miss(response) {
  response.writeHead(404, ['content-length', '0'])
  response.end()
}

/** @type {Record<string, import('node:http').RequestListener>} */
const listeners = {
  hello(request, response) {
    if (request.method === 'GET' && request.url === '/') send(response, hello())
    else miss(response)
  },
  params(request, response) {
    const url = request.url ?? ''
    if (request.method === 'GET' && url.startsWith('/users/')) send(response, user(decodeURIComponent(url.slice(7))))
    else miss(response)
  },
  post(request, response) {
    if (request.method !== 'POST' || request.url !== '/orders') {
      miss(response)
      return
    }
    /** @type {Buffer[]} */
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      send(response, receipt(JSON.parse(body.toString('utf8'))))
    })
  },
}

createServer(listeners[scenario]).listen(port, '127.0.0.1')
