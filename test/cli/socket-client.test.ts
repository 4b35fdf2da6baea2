import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClientOptions, createClient, SocketError, type SocketOptions } from '../../docs/examples/client/sdk.ts'

/** A connection whose other end is the test. */
class Fake {
  static all: Fake[] = []
  binaryType = ''
  readonly protocol = ''
  readonly sent: unknown[] = []
  readonly given: readonly unknown[]
  readonly #listeners = new Map<string, (event: unknown) => void>()
  constructor(...given: readonly unknown[]) {
    if (Array.isArray(given[1]) && given[1].includes('bad protocol')) throw new SyntaxError('no such protocol')
    this.given = given
    Fake.all.push(this)
  }
  send(data: unknown): void {
    this.sent.push(data)
  }
  close(code = 1005, reason = ''): void {
    this.emit('close', { code, reason })
  }
  addEventListener(type: string, listener: (event: unknown) => void): void {
    this.#listeners.set(type, listener)
  }
  emit(type: string, event: object = {}): void {
    this.#listeners.get(type)?.(event)
  }
}

const lent = (until: string) => ({ type: 'lent', data: { until } }) as const
/** A socket to a fake server. */
function open(options: SocketOptions = {}, client: ClientOptions = {}) {
  const { books } = createClient({ baseUrl: 'https://app.test/api/', WebSocket: Fake, ...client })
  return books.byId('1').loans.socket({ query: { reader: 'Ada' }, ...options })
}
const settled = () => vi.advanceTimersByTimeAsync(0)
const newest = async () => {
  await settled()
  return Fake.all.at(-1)!
}
const receive = (web: Fake, message: unknown) => web.emit('message', { data: JSON.stringify(message) })

beforeEach(() => {
  vi.useFakeTimers()
  Fake.all = []
})
afterEach(() => vi.useRealTimers())

describe('the opening', () => {
  test('goes to the address of the server by ws or wss, with its query and the headers of client and socket', async () => {
    open({ headers: { 'x-own': 1 } }, { headers: () => ({ authorization: 'Bearer a', 'x-own': 0 }) })
    expect((await newest()).given).toEqual([
      'wss://app.test/api/books/1/loans?reader=Ada',
      [],
      { headers: { authorization: 'Bearer a', 'x-own': '1' } },
    ])
    open({ protocols: ['v2'] }, { baseUrl: 'http://app.test' })
    expect((await newest()).given).toEqual(['ws://app.test/books/1/loans?reader=Ada', ['v2']])
  })

  test('without an address says so, and one that the runtime refuses ends the socket', async () => {
    expect(() => open({}, { baseUrl: undefined })).toThrow('the client has no baseUrl')
    const onError = vi.fn()
    const socket = open({ protocols: ['bad protocol'], reconnect: true }, { onError })
    await expect(socket.opened).rejects.toThrow('no such protocol')
    expect(onError).toHaveBeenCalledTimes(1)
  })

  test('of one that is closed or aborted before makes no connection', async () => {
    const socket = open({}, { headers: async () => ({ a: 1 }) })
    socket.close(4000, 'never mind')
    expect(await socket.closed).toEqual({ code: 4000, reason: 'never mind' })
    const aborted = open({ signal: AbortSignal.abort() })
    expect((await aborted.closed).code).toBe(1000)
    await settled()
    expect(Fake.all).toEqual([])
  })
})

describe('reading', () => {
  test('messages that come before the first reader are kept, in order', async () => {
    const socket = open()
    const web = await newest()
    web.emit('open')
    for (const until of ['a', 'b']) receive(web, lent(until))
    const seen: unknown[] = []
    socket.on('message', (message) => seen.push(message))
    receive(web, lent('c'))
    await settled()
    receive(web, lent('d'))
    expect(seen).toEqual(['a', 'b', 'c', 'd'].map(lent))
  })

  test('several loops see the same, and end with the socket', async () => {
    const socket = open()
    const web = await newest()
    web.emit('open')
    const read = async () => {
      const seen: unknown[] = []
      for await (const message of socket) seen.push(message)
      return seen
    }
    const both = [read(), read()]
    receive(web, lent('a'))
    web.emit('close', { code: 1000, reason: '' })
    expect(await Promise.all(both)).toEqual([[lent('a')], [lent('a')]])
    expect(await read()).toEqual([])
  })

  test('a bad end is thrown once, after the messages before it', async () => {
    const socket = open()
    const web = await newest()
    web.emit('open')
    receive(web, lent('a'))
    web.emit('close', { code: 1011, reason: 'it broke' })
    const loop = socket[Symbol.asyncIterator]()
    expect(await loop.next()).toEqual({ done: false, value: lent('a') })
    await expect(loop.next()).rejects.toMatchObject({ name: 'SocketError', code: 1011, reason: 'it broke' })
    expect(await loop.next()).toEqual({ done: true, value: undefined })
    expect(() => socket.send({ type: 'lend', data: { days: 1 } })).toThrow(SocketError)
  })

  test('a message that is not JSON goes to onError, and a listener that throws does not affect others', async () => {
    const onError = vi.fn()
    const socket = open({}, { onError })
    const web = await newest()
    web.emit('open')
    const seen: unknown[] = []
    const thrown: unknown[] = []
    const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((run) => {
      try {
        run()
      } catch (error) {
        thrown.push(error)
      }
    })
    socket.on('message', () => {
      throw new Error('mine')
    })
    socket.on('message', (message) => seen.push(message))
    web.emit('message', { data: '{' })
    receive(web, lent('a'))
    later.mockRestore()
    expect(thrown).toMatchObject([{ message: 'mine' }])
    expect([onError.mock.calls.length, seen]).toEqual([1, [lent('a')]])
  })
})

describe('reconnection', () => {
  /** The wait to the next connection. */
  async function waitOf(code: number): Promise<number> {
    const before = Fake.all.length
    Fake.all.at(-1)!.emit('close', { code, reason: '' })
    for (let ms = 0; ms <= 5000; ms += 10) {
      await vi.advanceTimersByTimeAsync(10)
      if (Fake.all.length > before) return ms
    }
    return Number.POSITIVE_INFINITY
  }

  test('waits double up to the longest, each a random part, and begin anew after a connection that has held', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    open({ reconnect: { delay: 200, maxDelay: 800 } })
    await newest()
    const waits = [await waitOf(1006), await waitOf(1001), await waitOf(1006), await waitOf(1013)]
    expect(waits.map((ms) => Math.round(ms / 100))).toEqual([1, 2, 4, 4])
    Fake.all.at(-1)!.emit('open')
    await vi.advanceTimersByTimeAsync(5000)
    vi.mocked(Math.random).mockReturnValue(0.999)
    expect(Math.round((await waitOf(1006)) / 100)).toBe(2)
    vi.mocked(Math.random).mockRestore()
  })

  test.each([
    1000, 1002, 1008, 1009, 4001,
  ])('is not for %i, with which a server says that it meant to', async (code) => {
    const socket = open({ reconnect: true })
    const web = await newest()
    web.emit('open')
    expect(await waitOf(code)).toBe(Number.POSITIVE_INFINITY)
    expect((await socket.closed).code).toBe(code)
  })

  test('a connection that broke off is 1006, also where the runtime says 0', async () => {
    const socket = open({ reconnect: { attempts: 1 } })
    ;(await newest()).emit('open')
    expect(await waitOf(0)).toBeLessThan(1000)
    expect(await waitOf(0)).toBe(Number.POSITIVE_INFINITY)
    expect((await socket.closed).code).toBe(1006)
  })

  test('is off by default, ends after its attempts, and with close()', async () => {
    open()
    await newest()
    expect(await waitOf(1006)).toBe(Number.POSITIVE_INFINITY)
    const socket = open({ reconnect: { delay: 10, attempts: 1 } })
    await newest()
    expect(await waitOf(1006)).toBeLessThan(20)
    expect(await waitOf(1006)).toBe(Number.POSITIVE_INFINITY)
    await expect(socket.opened).rejects.toThrow('has ended with 1006')
    const closed = open({ reconnect: true })
    const web = await newest()
    web.emit('close', { code: 1006, reason: '' })
    closed.close()
    const connections = Fake.all.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect([await closed.closed, Fake.all.length]).toEqual([{ code: 1000, reason: '' }, connections])
  })

  test('asks for the headers each time, and tries again where they cannot be had', async () => {
    const headers = vi.fn(async () => ({ authorization: 'a' }))
    headers.mockRejectedValueOnce(new Error('offline'))
    const socket = open({ reconnect: { delay: 10 } }, { headers })
    await vi.advanceTimersByTimeAsync(20)
    const web = await newest()
    web.emit('open')
    await socket.opened
    expect(await waitOf(1006)).toBeLessThan(20)
    expect(headers).toHaveBeenCalledTimes(3)
  })

  test('messages wait in order and are sent once, those of a socket that ends are gone', async () => {
    const socket = open({ reconnect: { delay: 10 }, buffer: 2 })
    const lend = (days: number) => socket.send({ type: 'lend', data: { days } })
    lend(1)
    const first = await newest()
    expect(first.sent).toEqual([])
    first.emit('open')
    lend(2)
    first.emit('close', { code: 1006, reason: '' })
    for (const days of [3, 4]) lend(days)
    expect(() => lend(5)).toThrow('is not connected, and 2 messages wait already')
    await vi.advanceTimersByTimeAsync(20)
    const second = await newest()
    second.emit('open')
    const days = (web: Fake) =>
      web.sent.map((text) => (JSON.parse(text as string) as { data: { days: number } }).data.days)
    expect([days(first), days(second)]).toEqual([
      [1, 2],
      [3, 4],
    ])
  })
})

describe('failures', () => {
  test('a code that the runtime does not send is thrown, and the socket can still send and close', async () => {
    const socket = open()
    const web = await newest()
    web.emit('open')
    vi.spyOn(web, 'close').mockImplementationOnce(() => {
      throw new DOMException('invalid code', 'InvalidAccessError')
    })
    expect(() => socket.close(1001)).toThrow('invalid code')
    socket.send({ type: 'renew', data: {} } as never)
    expect(web.sent).toHaveLength(1)
    socket.close()
    expect((await socket.closed).code).toBe(1000)
  })

  test('an onError that throws does not keep the socket from ending', async () => {
    const thrown: unknown[] = []
    vi.stubGlobal('queueMicrotask', (run: () => void) => {
      try {
        run()
      } catch (error) {
        thrown.push(error)
      }
    })
    const socket = open(
      {},
      {
        onError: () => {
          throw new Error('of the application')
        },
      },
    )
    ;(await newest()).emit('close', { code: 1008, reason: '' })
    expect(await Promise.race([socket.closed, settled()])).toEqual({ code: 1008, reason: '' })
    expect(thrown).toEqual([new Error('of the application')])
    vi.unstubAllGlobals()
  })
})
