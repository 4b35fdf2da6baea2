import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { definePlugin, Kernel, kernelOptions } from 'framework/kernel'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeKernel, pause, send } from '../../support/kernel.ts'
import { moveSystemClock } from '../../support/system-clock.ts'

const closing = (name: string, run: () => void | Promise<void>) =>
  definePlugin({ name, setup: (ctx) => ctx.onClose(run) })()
const hang = () => new Promise<void>(() => {})

describe('listen', () => {
  test('gives the real port to the promise, the callback, the hooks and the server', async () => {
    const { kernel } = makeKernel()
    const seen: unknown[] = []
    kernel.register(
      definePlugin({ name: 'jobs', setup: (ctx) => ctx.onListen((address) => void seen.push(address)) })(),
    )
    const address = await kernel.listen((given) => void seen.push(given))
    expect(address.port).toBeGreaterThan(0)
    expect(seen).toEqual([address, address])
    expect(kernel).toMatchObject({
      port: address.port,
      host: '127.0.0.1',
      isListening: true,
      url: `http://127.0.0.1:${address.port}`,
    })
    await kernel.close()
    expect(kernel.isListening).toBe(false)
  })

  test('rejects with the failure of the callback, also later, and continues to listen', async () => {
    const { kernel } = makeKernel()
    await expect(kernel.listen(() => Promise.reject(new Error('from the callback')))).rejects.toThrow(
      'from the callback',
    )
    expect(kernel.isListening).toBe(true)
    await kernel.close()
  })

  test('a second listen is an error', async () => {
    const { kernel } = makeKernel()
    await kernel.listen()
    await expect(kernel.listen()).rejects.toThrow(/listen\(\) was already called/)
    await kernel.close()
  })

  test('a port that is taken rejects, names it, and never calls back', async () => {
    const one = makeKernel().kernel
    const { port } = await one.listen()
    const two = makeKernel({ port }).kernel
    let called = false
    let released = false
    two.register(
      closing('db', () => {
        released = true
      }),
    )
    await expect(
      two.listen(() => {
        called = true
      }),
    ).rejects.toThrow(new RegExp(`${port}`))
    expect(called).toBe(false)
    expect(released).toBe(true)
    await Promise.all([one.close(), two.close()])
  })

  test('a boot error leaves no socket, and closes plugins that were set up', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    kernel.register(closing('first', () => void calls.push('first closed')))
    kernel.register(
      definePlugin({
        name: 'bad',
        setup() {
          throw new Error('no')
        },
      })(),
    )
    await expect(kernel.listen()).rejects.toThrow(/"bad" failed in setup/)
    expect(calls).toEqual(['first closed'])
    expect(kernel.isListening).toBe(false)
    await kernel.close()
  })

  test('listen hooks do not run under inject', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    kernel.register(
      definePlugin({
        name: 'jobs',
        setup(ctx) {
          ctx.onReady(() => void calls.push('ready'))
          ctx.onListen(() => void calls.push('listen'))
        },
      })(),
    )
    await send(kernel, '/')
    expect(calls).toEqual(['ready'])
    await kernel.close()
  })

  test.each([
    [{}, 300],
    [{ closeTimeout: 200 }, 100],
    [{ closeTimeout: 200, drainWindow: 100 }, 100],
    [{ closeTimeout: 0 }, 0],
  ])('the drain window of %j is %d ms', (options, expected) => {
    expect(kernelOptions.parse(options).drainWindow).toBe(expected)
  })

  test.each([
    [{ port: 70_000 }, /option "port" is 70000; it takes a whole number from 0 to 65535/],
    [{ port: '80a' as never }, /option "port" is "80a"/],
    [{ closeTimeout: -1 }, /option "closeTimeout" is -1/],
    [{ drainWindow: 20_000 }, /option "drainWindow" is 20000; it takes at most half of closeTimeout, which is 10000/],
    [
      { drainWindow: 101, closeTimeout: 200 },
      /option "drainWindow" is 101; it takes at most half of closeTimeout, which/,
    ],
    [{ limits: { headerTimeout: 5 } as never }, /limits.headerTimeout/],
    [
      { limits: { receiveTimeout: 5000 } },
      /option "limits.headersTimeout" is 10000; it takes at most limits.receiveTimeout, which is 5000 and includes it: lower/,
    ],
    [{ prot: 3000 } as never, /Unknown option "prot". Did you mean "port"\?/],
    [{ adapter: 'cloud' as never }, /option "adapter" is "cloud"/],
    [{ trustRequestId: 'false' as never }, /option "trustRequestId" is "false"; it takes true or false/],
    [{ gracefulShutdown: null as never }, /option "gracefulShutdown" is null/],
    [{ logger: {} as never }, /option "logger" is an empty object; it takes a logger with debug/],
    [{ router: null as never }, /option "router" is null; it takes a RouteCollection/],
    [{ abortSignal: {} as never }, /option "abortSignal" is an empty object; it takes an AbortSignal/],
    [{ https: { key: 'k' } as never }, /option "https" is \{ key \}; it takes \{ key, cert \} in PEM/],
    [{ https: { key: './key.pem', cert: './cert.pem' } }, /is \{ key, cert \}; .* in PEM: the contents of the files/],
  ])('refuses the option %j', (options, message) => {
    expect(() => kernelOptions.parse(options)).toThrow(message)
  })
})

test.each([[undefined], [{ port: 3000 }], [{ limits: {} }]])('a kernel refuses %j, which no one has read', (given) => {
  expect(() => new Kernel(given as never)).toThrow(/^new Kernel\(\) takes parsed options: .*kernelOptions\.parse/)
})

test.each([
  [[0, () => {}]],
  [[3000]],
  [[{ port: 3000 }]],
  [[() => {}, () => {}]],
  [[null]],
])('listen() with the arguments %j is refused before it binds', async (args) => {
  const { kernel } = makeKernel()
  const listen = kernel.listen.bind(kernel) as (...args: unknown[]) => Promise<unknown>
  await expect(listen(...args)).rejects.toThrow(/^listen\(\) takes a callback or nothing; port and host are/)
  await kernel.listen(undefined)
  await kernel.close()
})

describe('close', () => {
  test('runs the hooks in reverse, once, and is the same promise', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    for (const name of ['a', 'b', 'c']) kernel.register(closing(name, () => void calls.push(name)))
    await kernel.ready()
    const first = kernel.close()
    expect(kernel.close()).toBe(first)
    await first
    await kernel.disconnect()
    expect(calls).toEqual(['c', 'b', 'a'])
  })

  test('refuses options and callbacks, which it would ignore, and as a listener closes whatever it is handed', async () => {
    const { kernel } = makeKernel()
    await kernel.ready()
    const close = kernel.close.bind(kernel) as (...args: unknown[]) => Promise<void>
    const disconnect = kernel.disconnect.bind(kernel) as typeof close
    for (const given of [{ timeout: 5 }, {}, () => {}]) {
      await expect(close(given)).rejects.toThrow(/^close\(\) takes nothing, .* new Server\(\{ closeTimeout/)
      await expect(disconnect(given)).rejects.toThrow('close() takes nothing')
    }
    expect(kernel.isClosing).toBe(false)
    const given = new AbortController()
    given.signal.addEventListener('abort', close)
    given.abort()
    expect(kernel.isClosing).toBe(true)
    await close('SIGTERM')
  })

  test('on a server that never booted does nothing', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    kernel.register(definePlugin({ name: 'a', setup: () => void calls.push('setup') })())
    await kernel.close()
    expect(calls).toEqual([])
    await expect(kernel.inject({ url: '/' })).rejects.toThrow(/the server is closed/)
    await expect(kernel.fetch(new Request('http://x/'))).rejects.toThrow(/the server is closed/)
    await expect(kernel.listen()).rejects.toThrow(/the server is closed/)
    await expect(kernel.ready()).rejects.toThrow(/the server is closed/)
    expect(calls).toEqual([])
  })

  test('rejects with the one error of a hook, the others having run', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    kernel.register(closing('a', () => void calls.push('a')))
    kernel.register(closing('b', () => Promise.reject(new Error('stuck'))))
    await kernel.ready()
    await expect(kernel.close()).rejects.toMatchObject({
      code: 'CloseHookError',
      message: expect.stringMatching(/"b" failed: stuck/),
    })
    expect(calls).toEqual(['a'])
  })

  test('with hung and failing hooks rejects within its deadline, names all, and frees the port', async () => {
    const { kernel } = makeKernel({ closeTimeout: 800 })
    const clock = moveSystemClock()
    onTestFinished(() => clock.restore())
    kernel.register(closing('hung one', hang))
    kernel.register(closing('failing', () => Promise.reject(new Error('broken'))))
    kernel.register(closing('hung two', hang))
    kernel.register(closing('fine', () => {}))
    const { port } = await kernel.listen()
    const closed = kernel.close().catch((e: AggregateError) => e)
    // One after the other they would take twice the time, which does not come.
    await clock.advance(800)
    const error = await closed
    clock.restore()
    expect(error).toBeInstanceOf(AggregateError)
    const messages = (error as AggregateError).errors.map((one: Error) => one.message).join('\n')
    expect(messages).toMatch(/"hung two" did not settle within/)
    expect(messages).toMatch(/"failing" failed: broken/)
    expect(messages).toMatch(/"hung one" did not settle within/)
    const again = makeKernel({ port }).kernel
    await again.listen()
    await again.close()
  })

  test('answers requests in progress, then cuts the remaining connections, and reports how many', async () => {
    const { kernel, router, log } = makeKernel({ closeTimeout: 30_000, drainWindow: 50 })
    let begun = 0
    router.get('/short', async (req) => {
      begun++
      await new Promise((resolve) => req.server.closing.addEventListener('abort', resolve))
      return 'done'
    })
    router.get('/forever', () => {
      begun++
      return hang()
    })
    const { port } = await kernel.listen()
    const short = fetch(`http://127.0.0.1:${port}/short`).then((res) => res.json())
    const forever = fetch(`http://127.0.0.1:${port}/forever`).catch(() => 'cut')
    await expect.poll(() => begun).toBe(2)
    const clock = moveSystemClock()
    onTestFinished(() => clock.restore())
    const closed = kernel.close()
    let answer: unknown
    void short.then((text) => {
      answer = text
    })
    await expect.poll(() => clock.advance(20).then(() => answer), { timeout: 20_000 }).toBe('done')
    await clock.advance(30_000)
    await closed
    expect(await forever).toBe('cut')
    expect(log.find((entry) => entry.level === 'warn')?.message).toMatch(
      /closing took longer than 30000 ms: 1 connections were cut/,
    )
  })

  test('a request that is slow is answered until the deadline, beside the close hooks', async () => {
    const { kernel, router } = makeKernel({ closeTimeout: 30_000, drainWindow: 0 })
    const hooksRun = new Promise<void>((resolve) => {
      kernel.register(closing('a', resolve))
    })
    let begun = () => {}
    const began = new Promise<void>((resolve) => {
      begun = resolve
    })
    router.get('/slow', async () => {
      begun()
      await hooksRun
      return 'answered'
    })
    const { port } = await kernel.listen()
    const slow = fetch(`http://127.0.0.1:${port}/slow`).then((res) => res.json())
    await began
    const clock = moveSystemClock()
    onTestFinished(() => clock.restore())
    const closed = kernel.close()
    // The hooks have the last tenth.
    await clock.advance(27_000)
    await closed
    expect(await slow).toBe('answered')
  })

  test('ends a socket on which nothing was ever sent', async () => {
    const { kernel, log } = makeKernel({ drainWindow: 50, closeTimeout: 30_000 })
    const { port } = await kernel.listen()
    const socket = connect(port, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    // The server accepts in the order of the connections.
    await fetch(`http://127.0.0.1:${port}`)
    const ended = new Promise((resolve) => socket.once('close', resolve))
    await kernel.close()
    await ended
    // It was not cut at the deadline.
    expect(log).toEqual([])
  })

  test('a ready hook that closes the server ends the boot, and the later hooks do not run', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    const plugin = (name: string, ready: () => unknown) =>
      definePlugin({
        name,
        setup(ctx) {
          ctx.onReady(async () => {
            calls.push(`${name} is called`)
            await ready()
            calls.push(`${name} has ended`)
          })
          ctx.onClose(() => void calls.push(`${name} closes`))
        },
      })()
    kernel.register(plugin('a', () => kernel.close()))
    kernel.register(plugin('b', () => {}))
    await expect(kernel.listen()).rejects.toThrow(/^SERVER_CLOSED/)
    await kernel.close()
    expect(calls).toEqual(['a is called', 'b closes', 'a closes', 'a has ended'])
  })

  test('without connections does not wait for the drain window', async () => {
    const { kernel } = makeKernel({ drainWindow: 5_000 })
    const clock = moveSystemClock()
    onTestFinished(() => clock.restore())
    await kernel.listen()
    // Its clock stands still.
    await kernel.close()
  })

  test('aborts endless streams, and lets them end', async () => {
    const { kernel, router, log } = makeKernel({ drainWindow: 50 })
    let ticks = 0
    router.get('/events', (req, res) =>
      res.sse(
        (async function* () {
          while (!req.server.closing.aborted) {
            ticks++
            yield 'tick'
            await pause(10)
          }
          yield 'bye'
        })(),
      ),
    )
    const { port } = await kernel.listen()
    const text = fetch(`http://127.0.0.1:${port}/events`).then((res) => res.text())
    await expect.poll(() => ticks).toBeGreaterThan(1)
    await kernel.close()
    expect(await text).toMatch(/data: tick\n\n(data: tick\n\n)*data: bye\n\n$/)
    expect(log).toEqual([])
  })

  test('waits for a boot that is under way', async () => {
    const { kernel } = makeKernel()
    const calls: string[] = []
    kernel.register(
      definePlugin({
        name: 'slow',
        async setup(ctx) {
          await pause(30)
          ctx.onClose(() => void calls.push('closed'))
        },
      })(),
    )
    const ready = kernel.ready()
    await kernel.close()
    await ready
    expect(calls).toEqual(['closed'])
  })

  test('follows an abort signal', async () => {
    const abort = new AbortController()
    const { kernel } = makeKernel({ abortSignal: abort.signal })
    await kernel.listen()
    abort.abort()
    await kernel.close()
    expect(kernel.isListening).toBe(false)
  })

  test('GS-06 200 rounds of three servers leak no listener, no timer and no memory', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const round = async () => {
      const three = Array.from({ length: 3 }, () => makeKernel({ gracefulShutdown: true }).kernel)
      await Promise.all(three.map((kernel) => kernel.listen()))
      await Promise.all(three.map((kernel) => kernel.close()))
    }
    const settled = () => {
      gc()
      const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      return { heap: process.memoryUsage().heapUsed, timers, listeners: process.listenerCount('SIGTERM') }
    }
    for (let i = 0; i < 50; i++) await round()
    const before = settled()
    for (let i = 0; i < 150; i++) await round()
    await expect.poll(() => settled().heap - before.heap, { timeout: 20_000 }).toBeLessThan(150 * 10_000)
    // Those that wait for the silence of the connections end a little later.
    await expect.poll(() => settled().timers - before.timers, { timeout: 20_000 }).toBeLessThan(5)
    expect(settled().listeners).toBe(before.listeners)
  })
})
