import { RouteCollection, Server } from 'framework'
import { type UrlencodedOptions, urlencoded } from 'framework/plugins/urlencoded'
import { describe, expect, test } from 'vitest'
import { send } from '../support/kernel.ts'

const form = 'application/x-www-form-urlencoded'

function serving(options?: UrlencodedOptions) {
  const router = new RouteCollection()
  let calls = 0
  router.post('/', (req) => {
    calls++
    return { body: req.body ?? null, prototype: req.body === undefined ? null : Object.getPrototypeOf(req.body) }
  })
  const server = new Server({ router, plugins: [urlencoded(options)] })
  return {
    calls: () => calls,
    post: (body: string, type: string | null = form) =>
      send(server, '/', 'POST', { body, headers: type === null ? {} : { 'content-type': type } }),
    raw: (body: Uint8Array) => server.inject({ url: '/', method: 'POST', body, headers: { 'content-type': form } }),
  }
}

describe('a form', () => {
  test('is read into an object without prototype', async () => {
    const res = await serving().post('a=1&b=x+y&b=%C3%A9&c=&d')
    expect(res.json).toEqual({ body: { a: '1', b: ['x y', 'é'], c: '', d: '' }, prototype: null })
  })

  test('never reaches a prototype, and brackets are part of the name', async () => {
    const res = await serving().post('__proto__=1&constructor=2&prototype=3&__proto__[x]=4&a[b][c]=5&a[]=6')
    expect(res.json).toMatchObject({ body: { '__proto__[x]': '4', 'a[b][c]': '5', 'a[]': '6' } })
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })

  test('in another type is left alone', async () => {
    for (const type of [
      null,
      'text/plain',
      'application/json-x',
      `${form}x`,
      `x${form}`,
      `${form}; charset=utf-16`,
      `${form} x`,
    ]) {
      expect((await serving().post('a=1', type)).json).toMatchObject({ body: null })
    }
  })

  test.each([
    form.toUpperCase(),
    `${form};charset=UTF-8`,
    ` ${form} ; charset="utf-8"`,
  ])('is known as %j', async (type) => {
    expect((await serving().post('a=1', type)).json).toMatchObject({ body: { a: '1' } })
  })
})

describe('limits', () => {
  test('bytes: the limit itself is fine, one more is 413 and the handler does not run', async () => {
    const { post, calls } = serving({ sizeLimit: 10 })
    expect((await post('a=12345678')).status).toBe(200)
    expect(await post('a=123456789')).toMatchObject({ status: 413, json: { code: 'PayloadTooLargeError' } })
    expect(calls()).toBe(1)
  })

  test('fields: more than 1000 are 400', async () => {
    const { post } = serving()
    expect((await post(Array.from({ length: 1000 }, (_, i) => `k${i}=1`).join('&'))).status).toBe(200)
    expect(await post(Array.from({ length: 1001 }, (_, i) => `k${i}=1`).join('&'))).toMatchObject({
      status: 400,
      json: { code: 'BadRequestError' },
    })
  })

  test('bytes that are no UTF-8 are 400', async () => {
    expect((await serving().raw(new Uint8Array([97, 61, 255]))).status).toBe(400)
  })

  test('hostile forms are answered at once', async () => {
    const { post } = serving()
    for (const body of [
      `a=${','.repeat(900_000)}`,
      `a${'[b]'.repeat(1000)}=1`,
      '&'.repeat(900_000),
      '%'.repeat(900_000),
      '+'.repeat(900_000),
    ]) {
      const start = performance.now()
      expect((await post(body)).status).toBeLessThan(500)
      expect(performance.now() - start).toBeLessThan(500)
    }
  })
})

test.each([
  [{ sizeLimit: 'big' }],
  [{ sizeLimit: -1 }],
  [{ sizeLimit: '10 apples' }],
  [{ limit: 5 }],
])('the options %j are refused', async (options) => {
  const server = new Server({ router: new RouteCollection(), plugins: { urlencoded: options as never } })
  await expect(server.ready()).rejects.toThrow(/urlencoded\.\w+" is/)
})
