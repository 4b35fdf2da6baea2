// The floor: node:http by hand, as fast as its documented interface allows.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { parse } from 'node:querystring'
import {
  account,
  accountSchema,
  filesFolder,
  hello,
  items,
  itemsSchema,
  logTarget,
  many,
  orderSchema,
  origin,
  port,
  receipt,
  receiptSchema,
  scenario,
  securityHeaders,
  user,
  userParams,
  userQuery,
} from './routes.mjs'

/** @param {import('node:http').ServerResponse} response @param {unknown} value */
function send(response, value) {
  sendText(response, 200, JSON.stringify(value))
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {string} text */
function sendText(response, status, text) {
  response.writeHead(status, [
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
    readJson(request, (body) => send(response, receipt(body)))
  },
  async file(request, response) {
    const name = decodeURIComponent(request.url ?? '')
    if (request.method !== 'GET' || name.includes('..')) {
      miss(response)
      return
    }
    const path = join(filesFolder, name)
    const { size, mtime } = await stat(path)
    const etag = `W/"${size.toString(16)}-${mtime.getTime().toString(16)}"`
    const validators = ['etag', etag, 'last-modified', mtime.toUTCString(), 'cache-control', 'public, max-age=0']
    response.writeHead(200, ['content-type', 'application/json', 'content-length', String(size), ...validators])
    createReadStream(path).pipe(response)
  },
}

/** @param {import('node:http').IncomingMessage} request @param {(body: any) => void} then */
function readJson(request, then) {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    then(JSON.parse(body.toString('utf8')))
  })
}

/** The same work with the same libraries. They are loaded only here: they would be most of what the boot suite measures. */
async function schemaListener() {
  const { Ajv } = await import('ajv')
  const { default: formats } = await import('ajv-formats')
  const { default: build } = await import('fast-json-stringify')
  const ajv = new Ajv({ coerceTypes: 'array', useDefaults: true, removeAdditional: true })
  formats.default(ajv)
  const isOrder = ajv.compile(orderSchema)
  const writeReceipt = build(receiptSchema)
  const isParams = ajv.compile(userParams)
  const isQuery = ajv.compile(userQuery)
  const writeAccount = build(accountSchema)
  const writeItems = build(itemsSchema)
  /** @type {Record<string, import('node:http').RequestListener>} */
  const schemaListeners = {
    validated(request, response) {
      if (request.method !== 'POST' || request.url !== '/orders') {
        miss(response)
        return
      }
      readJson(request, (body) => {
        if (isOrder(body)) sendText(response, 200, writeReceipt(receipt(body)))
        else sendText(response, 422, JSON.stringify(isOrder.errors))
      })
    },
    serialised(request, response) {
      const url = request.url ?? ''
      if (request.method !== 'GET' || !url.startsWith('/users/')) {
        miss(response)
        return
      }
      const mark = url.indexOf('?')
      const params = { id: decodeURIComponent(url.slice(7, mark === -1 ? undefined : mark)) }
      const query = mark === -1 ? {} : parse(url.slice(mark + 1))
      if (isParams(params) && isQuery(query)) {
        // Ajv has coerced these.
        const [{ id }, wanted] = /** @type {[{ id: any }, any]} */ ([params, query])
        sendText(response, 200, writeAccount(account(id, wanted)))
      } else sendText(response, 422, JSON.stringify(isParams.errors ?? isQuery.errors))
    },
    list(request, response) {
      if (request.method === 'GET' && request.url === '/items') sendText(response, 200, writeItems(items))
      else miss(response)
    },
  }
  return scenario === 'full' ? fullListener(isOrder, writeReceipt) : schemaListeners[scenario]
}

/**
 * Does everything that the plugins of the others do, in one function: the headers are one list, the id is a counter.
 *
 * @param {import('ajv').ValidateFunction} isOrder
 * @param {(value: unknown) => string} writeReceipt
 */
async function fullListener(isOrder, writeReceipt) {
  const { pino } = await import('pino')
  const log = pino(pino.destination(logTarget))
  const security = Object.entries(securityHeaders).flat()
  const shared = ['content-type', 'application/json; charset=utf-8', 'vary', 'Origin', ...security]
  let count = 0
  /** @type {import('node:http').RequestListener} */
  return function listener(request, response) {
    const start = performance.now()
    const { method, url, headers } = request
    if (method !== 'POST' || url !== '/orders') {
      miss(response)
      return
    }
    const reqId = `r${++count}`
    readJson(request, (body) => {
      const status = isOrder(body) ? 200 : 422
      const text = status === 200 ? writeReceipt(receipt(body)) : JSON.stringify(isOrder.errors)
      const head = [...shared, 'content-length', String(Buffer.byteLength(text)), 'x-request-id', reqId]
      if (headers.origin === origin) head.push('access-control-allow-origin', origin)
      response.writeHead(status, head)
      response.end(text)
      const ms = performance.now() - start
      log.info({ reqId, method, path: url, route: '/orders', status, ms }, 'request')
    })
  }
}

/** What remains of form handling when nothing is checked: busboy, and the file in memory. */
async function uploadListener() {
  const { Busboy } = await import('@fastify/busboy')
  /** @type {import('node:http').RequestListener} */
  return function listener(request, response) {
    if (request.method !== 'POST' || request.url !== '/form') {
      miss(response)
      return
    }
    const busboy = new Busboy({ headers: /** @type {{ 'content-type': string }} */ (request.headers) })
    let size = 0
    busboy.on('file', (_field, stream) => {
      /** @type {Buffer[]} */
      const chunks = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        size = Buffer.concat(chunks).length
      })
    })
    busboy.on('finish', () => send(response, { size }))
    request.pipe(busboy)
  }
}

/** Uses a router: no one writes one by hand. */
async function manyListener() {
  const { default: findMyWay } = await import('find-my-way')
  const router = findMyWay({ defaultRoute: (_request, response) => miss(response) })
  for (const { i, path } of many.pages) router.on('GET', path, (_request, response) => send(response, { route: i }))
  for (const { i, kind } of many.parts) {
    router.on('GET', `${kind}/:a/parts/:b`, (_request, response, { a, b }) => send(response, { route: i, a, b }))
  }
  for (const { i, area } of many.files) {
    router.on('GET', `${area}/*`, (_request, response, params) => send(response, { route: i, rest: params['*'] }))
  }
  /** @type {import('node:http').RequestListener} */
  return (request, response) => router.lookup(request, response)
}

const loaded = { many: manyListener, upload: uploadListener }
const listener = listeners[scenario] ?? (await (loaded[scenario] ?? schemaListener)())
createServer(listener).listen(port, '127.0.0.1')
