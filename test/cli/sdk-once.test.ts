import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { type Request, type Response, RouteCollection, Server } from 'framework'
import { type ContractClientOptions, contractClient, defineContract } from 'framework/contract'
import { describeServer } from 'framework/plugins/openapi'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { ApiDocument } from '../../cli/sdk/document.ts'
import { generateClient } from '../../cli/sdk/generate.ts'
import { deferred } from '../../plugins/shared/values/promises.ts'
import { memoryLogger } from '../support/kernel.ts'
import { runTsc } from '../support/typescript.ts'

interface Answer {
  readonly status: number
  readonly data: unknown
  readonly headers: Headers
}
type Post = (input?: object) => Promise<Answer>
type Orders = { orders: { post: Post; delete: Post }; plain: { post: Post } }
type CreateClient = (options: object) => Orders & { private: { post: Post; delete: Post } }

let effects = 0
let proceed = deferred()
const refusals: { readonly status: number; readonly after?: string }[] = []

function makeServer() {
  const plugins = { openapi: true, idempotency: { scope: () => 'public' } } as const
  const server: Server = new Server({ port: 0, plugins, router: new RouteCollection(), logger: memoryLogger() })
  const handler = async (_req: Request, res: Response) => {
    await proceed.promise
    const refusal = refusals.shift()
    if (refusal?.after) res.setHeader('retry-after', refusal.after)
    if (refusal) return res.status(refusal.status).json({ refused: true })
    return res.status(201).json({ order: ++effects, text: 'x'.repeat(10_000) })
  }
  server.post('/orders', { idempotency: { required: true } }, handler)
  server.delete('/orders', { idempotency: true }, handler)
  server.post('/plain', handler)
  const scope = (req: Request) => req.headers['x-user']
  server.post('/private', { idempotency: { scope } }, handler)
  server.delete('/private', { idempotency: { scope, required: true } }, handler)
  return server
}

/** Passes everything on to the server, and cuts the connection of each request in the given list after so many bytes of its response. */
async function startProxy(to: number) {
  const cuts: number[] = []
  const requests: string[] = []
  const responses: string[] = []
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(to, '127.0.0.1')
    let left = Number.POSITIVE_INFINITY
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}))
    client.on('data', (data) => {
      requests.push(String(data))
      // By requests: a connection that brings none, such as one whose call has been aborted meanwhile, takes no cut from the next.
      if (/^[A-Z]+ \/(orders|plain|private) /.test(String(data))) left = cuts.shift() ?? Number.POSITIVE_INFINITY
      server.write(data)
    })
    server.on('data', (data) => {
      responses.push(String(data))
      client.write(data.subarray(0, left))
      left -= data.length
      if (left <= 0) client.destroySoon()
    })
    client.on('close', () => server.destroy())
    server.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as { port: number }
  return {
    ...{ cuts, requests, responses, baseUrl: `http://127.0.0.1:${port}` },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

let server: Server
let proxy: Awaited<ReturnType<typeof startProxy>>
let source: string
let createClient: CreateClient
const keys = () => proxy.requests.flatMap((text) => /^idempotency-key: (.*)$/im.exec(text)?.[1] ?? [])

beforeAll(async () => {
  server = makeServer()
  const { port } = await server.listen()
  proxy = await startProxy(port)
  source = generateClient(describeServer(server) as unknown as ApiDocument)
  const { code } = await transform(source, { loader: 'ts', target: 'es2022' })
  ;({ createClient } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as never)
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})
beforeEach(() => {
  effects = 0
  for (const list of [refusals, proxy.cuts, proxy.requests, proxy.responses]) list.length = 0
  proceed.resolve()
})

/** The client of a contract with the same routes, in the form of the generated one. */
const contract = defineContract({
  post: { method: 'POST', path: '/orders', body: z.unknown(), idempotency: true },
  delete: { method: 'DELETE', path: '/orders', idempotency: true },
  plain: { method: 'POST', path: '/plain' },
  postPrivate: { method: 'POST', path: '/private', idempotency: true },
  deletePrivate: { method: 'DELETE', path: '/private', idempotency: true },
})
function clientOfContract({ onError, ...options }: ContractClientOptions & { onError?: (error: unknown) => void }) {
  const calls = contractClient(contract, options)
  const like =
    (call: (input: never) => Promise<{ ok: boolean; status: number; body: unknown; headers: Headers }>): Post =>
    async (input) => {
      try {
        const { ok, body, ...answer } = await call(input as never)
        if (!ok) onError?.(answer)
        return { ...answer, data: body }
      } catch (error) {
        onError?.(error)
        throw Object(error).cause ?? error
      }
    }
  return {
    orders: { post: like(calls.post), delete: like(calls.delete) },
    plain: { post: like(calls.plain) },
    private: { post: like(calls.postPrivate), delete: like(calls.deletePrivate) },
  }
}

describe.each(['generated', 'contract'])('a call that the server carries out once, %s client', (kind) => {
  const client = (options: object = {}) => {
    const all = { baseUrl: proxy.baseUrl, headers: { connection: 'close' }, ...options }
    // Undici would keep a connection for the next call, and send the call again by itself when the proxy has cut it.
    return kind === 'generated' ? createClient(all) : clientOfContract(all)
  }

  describe('of a caller who is not known', () => {
    test('works without a key where none is required, is sent once, and changes nothing for known callers', async () => {
      expect((await client().private.post()).status).toBe(201)
      expect([effects, keys().length, proxy.requests.length]).toEqual([1, 1, 2])
      proxy.cuts.push(Number.POSITIVE_INFINITY, 1)
      await expect(client().private.post()).rejects.toThrow()
      expect(effects).toBe(2)
      const known = { connection: 'close', 'x-user': 'ada' }
      proxy.cuts.push(1)
      expect((await client({ headers: known }).private.post()).headers.get('idempotent-replayed')).toBe('true')
      expect(effects).toBe(3)
    })

    test('is refused with the reason where a key is required, or given by the call', async () => {
      const code = { code: 'IdempotencyScopeError' }
      expect(await client().private.delete()).toMatchObject({ status: 400, data: code })
      proxy.requests.length = 0
      const own = await client().private.post({ headers: { 'idempotency-key': 'mine' } })
      expect([own, proxy.requests.length, effects]).toMatchObject([{ status: 400, data: code }, 1, 0])
    })

    test('is not sent without its key after an attempt that may have been carried out', async () => {
      let calls = 0
      const headers = () => (calls++ === 0 ? { connection: 'close', 'x-user': 'ada' } : { connection: 'close' })
      proxy.cuts.push(1)
      expect((await client({ headers }).private.post()).status).toBe(400)
      expect(effects).toBe(1)
    })
  })

  test.each([
    ['before the response', 1],
    ['in the middle of its body', 5_000],
  ])('has one effect when the connection is lost %s', async (_where, bytes) => {
    proxy.cuts.push(bytes, bytes)
    const { status, data, headers } = await client().orders.post()
    expect([status, headers.get('idempotent-replayed'), data]).toMatchObject([201, 'true', { order: 1 }])
    expect(effects).toBe(1)
    expect(keys()).toHaveLength(3)
    expect(new Set(keys()).size).toBe(1)
  })

  test('waits while the first attempt runs', async () => {
    proceed = deferred()
    const lost = new AbortController()
    const running = client().orders.post({ headers: { 'Idempotency-Key': kind }, signal: lost.signal })
    await expect.poll(() => proxy.requests.length).toBe(1)
    lost.abort()
    await expect(running).rejects.toThrow()
    const again = client().orders.post({ headers: { 'idempotency-key': kind } })
    await expect.poll(() => proxy.responses.some((text) => text.startsWith('HTTP/1.1 409'))).toBe(true)
    proceed.resolve()
    expect((await again).status).toBe(201)
    expect([effects, new Set(keys())]).toEqual([1, new Set([kind])])
  })

  test.each([429, 503])('is sent again after %i with Retry-After, and each call has its own key', async (status) => {
    refusals.push({ status, after: '0' }, { status, after: new Date(Date.now()).toUTCString() })
    const first = await client().orders.delete()
    const second = await client().orders.delete()
    expect([first.status, second.status, effects]).toEqual([201, 201, 2])
    const [one, two, three, four] = keys()
    expect([one === two, two === three, three === four]).toEqual([true, true, false])
  })

  test.each([
    ['names no time', { status: 503 }],
    ['names a time that is far away', { status: 503, after: '3600' }],
    ['names nothing that is a time', { status: 429, after: 'soon' }],
    ['names less than no time', { status: 429, after: '-5' }],
    ['names a day without a time', { status: 503, after: 'Foo 5' }],
    ['is another failure', { status: 500, after: '0' }],
  ])('is not sent again if the response %s', async (_which, refusal) => {
    refusals.push(refusal)
    expect((await client().orders.post()).status).toBe(refusal.status)
    expect(keys()).toHaveLength(1)
  })

  test('is sent four times at most, or as often as retries says, and its last failure is reported once', async () => {
    proxy.cuts.push(1, 1)
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    await expect(client({ onError, retries: 1 }).orders.post()).rejects.toThrow()
    expect([keys().length, errors.length, effects]).toEqual([2, 1, 1])
    refusals.push(...Array(4).fill({ status: 503, after: '0' }))
    expect((await client({ onError, retries: 1 }).orders.post({ retries: 3 })).status).toBe(503)
    expect([keys().length, errors.length]).toEqual([6, 2])
  })

  test('has no key of its own with retries: 0', async () => {
    expect((await client({ retries: 0 }).orders.post()).status).toBe(400)
    proxy.cuts.push(1)
    await expect(client().orders.delete({ retries: 0 })).rejects.toThrow()
    expect([keys(), proxy.requests.length]).toEqual([[], 2])
  })

  test('ends with its signal and its time limit, also between two attempts', async () => {
    refusals.push({ status: 503, after: '20' }, { status: 503, after: '20' })
    const controller = new AbortController()
    const aborted = client().orders.post({ signal: controller.signal })
    await expect.poll(() => refusals.length).toBe(1)
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
    // Long enough for the first attempt on a busy machine, and shorter than the pause after it.
    await expect(client().orders.post({ timeout: 3_000 })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(keys()).toHaveLength(2)
  })

  test.each([0, 1])('is not repeated for what fails before it is sent, after %i attempts', async (before) => {
    proxy.cuts.push(...Array(before).fill(1))
    let calls = 0
    const headers = () => {
      if (calls++ < before) return { connection: 'close' }
      throw new Error('no token')
    }
    await expect(client({ headers }).orders.post()).rejects.toThrow('no token')
    expect(calls).toBe(before + 1)
  })

  test('has the same body each time, also of a form, whose boundary fetch makes up, and of a stream', async () => {
    const form = new FormData()
    form.append('title', 'Emma')
    form.append('cover', new File(['abc'], 'cover.png', { type: 'image/png' }))
    // Bodies of contracts are JSON, or forms of one's own.
    const stream = kind === 'generated' ? [new Blob(['a stream']).stream()] : []
    for (const body of [form, ...stream]) {
      proxy.cuts.push(1)
      proxy.requests.length = 0
      expect((await client().orders.post({ body })).status).toBe(201)
      const [, first, second] = proxy.requests.join('').split('POST ')
      expect(first).toMatch(body === form ? /boundary=.*"cover.png".*abc/s : /a stream$/)
      expect(second).toBe(first)
    }
  })

  /** A fetch that needs no connection. */
  const answered = (...all: (globalThis.Response | Error)[]) => {
    const bodies: string[] = []
    const next = async (request: globalThis.Request) => {
      bodies.push(await request.text())
      const one = all.length > 1 ? all.shift()! : all[0]!
      if (one instanceof Error) throw one
      return one.clone()
    }
    return { bodies, fetch: next }
  }
  const json = (status: number, value: object) => globalThis.Response.json(value, { status })

  test('has the same body each time, whatever the caller does to it meanwhile', async () => {
    const body = { book: 1 }
    const { bodies, fetch } = answered(new TypeError('lost'), json(201, {}))
    const running = client({ fetch }).orders.post({ body, headers: { 'content-type': 'application/json' } })
    body.book = 2
    await running
    expect(bodies).toEqual(kind === 'contract' ? ['{"book":1}', '{"book":1}'] : Array(2).fill(String(body)))
  })

  test('is sent once if a response of its handler has the name of that refusal', async () => {
    const { bodies, fetch } = answered(json(400, { code: 'SoldOut', title: 'IdempotencyScopeError' }))
    expect((await client({ fetch }).orders.post()).status).toBe(400)
    expect(bodies).toHaveLength(1)
  })

  test('does not wait for the end of events, however their type is written', async () => {
    const events = new globalThis.Response(new ReadableStream(), { headers: { 'content-type': 'Text/Event-Stream' } })
    expect((await client({ fetch: async () => events, timeout: 5_000 }).orders.post()).status).toBe(200)
  })

  test('is refused if retries is not a number', async () => {
    const { bodies, fetch } = answered(json(201, {}))
    for (const retries of ['many', Number.NaN, -1])
      await expect(client({ fetch, retries }).orders.post()).rejects.toThrow(`retries is ${retries}; it takes a number`)
    expect(bodies).toEqual([])
  })

  test('keeps no listener at its signal after it has ended', async () => {
    const any = vi.spyOn(AbortSignal, 'any')
    const wait = new globalThis.Response(null, { status: 503, headers: { 'retry-after': '0' } })
    const listenersAfter = async (...all: globalThis.Response[]) => {
      any.mockClear()
      await client({ fetch: answered(...all).fetch, signal: new AbortController().signal }).orders.post()
      return any.mock.results.reduce(
        (sum, { value }) => sum + getEventListeners(value as AbortSignal, 'abort').length,
        0,
      )
    }
    // Those of the requests themselves.
    const ofOne = await listenersAfter(json(201, {}))
    // Fewer where one was collected: some are held weakly.
    expect(await listenersAfter(wait, json(201, {}))).toBeLessThanOrEqual(2 * Math.max(1, ofOne))
    any.mockRestore()
  })

  test('is not sent again once it is aborted, also by a fetch that does not look at its signal', async () => {
    refusals.push({ status: 503, after: '30' })
    const aborted = new AbortController()
    const deaf = async ({ url, method, headers }: globalThis.Request) => {
      const response = await fetch(url, { method, headers })
      aborted.abort(new Error('gone'))
      return response
    }
    await expect(client({ fetch: deaf }).orders.post({ signal: aborted.signal })).rejects.toThrow('gone')
    expect(keys()).toHaveLength(1)
  })
})

test('any other call is sent once, without a key', async () => {
  proxy.cuts.push(1)
  await expect(createClient({ baseUrl: proxy.baseUrl }).plain.post()).rejects.toThrow()
  expect([keys(), proxy.requests.length]).toEqual([[], 1])
})

test('the key is optional, retries is an option of these calls alone, and a client without them has none of it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'framework-sdk-'))
  const use = `import { createClient } from './sdk.ts'
const client = createClient({ retries: 2 })
void client.orders.post()
void client.orders.post({ headers: { 'Idempotency-Key': 'k' }, retries: 1 })
// @ts-expect-error retries is not an option of a call that may be carried out twice
void client.plain.post({ retries: 1 })
`
  writeFileSync(join(folder, 'sdk.ts'), source)
  writeFileSync(join(folder, 'use.ts'), use)
  const strict =
    '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --isolatedDeclarations --declaration --noUnusedParameters'
  const rest = '--allowImportingTsExtensions --target es2022 --module nodenext --lib es2023,dom --types'
  try {
    expect(runTsc([...`${strict} ${rest}`.split(' '), '', 'use.ts'], folder).output).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
  expect(generateClient({ paths: {} })).not.toMatch(/retries|Idempotency/)
})
