// Requests without a socket, in the way each framework offers them, with the body of the response as text.
import { Elysia } from 'elysia'
import fastify from 'fastify'
import { H3, readBody } from 'h3'
import { Hono } from 'hono'

/**
 * @param {{ hello: () => unknown, receipt: (body: any) => unknown, payload: string }} work
 * @returns {Promise<{ name: string, get: () => Promise<string>, post: () => Promise<string> }[]>}
 */
export async function injectPeers({ hello, receipt, payload }) {
  const headers = { 'content-type': 'application/json' }
  const posted = { method: 'POST', headers, body: payload }
  const app = fastify()
  app.get('/', hello)
  app.post('/orders', (request) => receipt(request.body))
  await app.ready()
  const hono = new Hono()
  hono.get('/', (c) => c.json(hello()))
  hono.post('/orders', async (c) => c.json(receipt(await c.req.json())))
  const elysia = new Elysia().get('/', hello).post('/orders', ({ body }) => receipt(body), { parse: 'json' })
  const h3 = new H3().get('/', hello).post('/orders', async (event) => receipt(await readBody(event)))
  const root = 'http://localhost/'
  const orders = 'http://localhost/orders'
  return [
    {
      name: 'fastify.inject',
      get: async () => (await app.inject({ method: 'GET', url: '/' })).payload,
      post: async () => (await app.inject({ method: 'POST', url: '/orders', headers, payload })).payload,
    },
    {
      name: 'hono',
      get: async () => (await hono.request('/')).text(),
      post: async () => (await hono.request('/orders', posted)).text(),
    },
    {
      name: 'elysia',
      get: async () => (await elysia.handle(new Request(root))).text(),
      post: async () => (await elysia.handle(new Request(orders, posted))).text(),
    },
    {
      name: 'h3',
      get: async () => (await h3.request('/')).text(),
      post: async () => (await h3.request('/orders', posted)).text(),
    },
  ]
}
