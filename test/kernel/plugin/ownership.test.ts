import { definePlugin, option } from 'framework/kernel'
import { expect, test } from 'vitest'
import { RouteCollection, Server } from '../../../index.ts'
import { makeKernel, memoryLogger } from '../../support/kernel.ts'

/** Plugins that write down what happens to their services. */
function makePlugins() {
  const events: string[] = []
  class Pool {
    readonly name: string
    constructor(name: string) {
      this.name = name
      events.push(`open ${name}`)
    }
    async [Symbol.asyncDispose]() {
      await null
      events.push(`dispose ${this.name}`)
    }
  }
  const pool = (name: string, setup: () => void = () => {}) =>
    definePlugin({
      name,
      provide: () => ({ [name]: new Pool(name) }),
      setup(ctx) {
        ctx.onClose(() => void events.push(`hook of ${name}`))
        setup()
      },
    })()
  return { events, pool, Pool }
}

test('services that can be disposed of are, in reverse, after the hooks of their plugin and of later ones', async () => {
  const { events, pool } = makePlugins()
  const { kernel } = makeKernel()
  kernel.register(pool('one')).register(pool('two'))
  await kernel.ready()
  await kernel.close()
  await kernel.close()
  expect(events).toEqual(['open one', 'open two', 'hook of two', 'dispose two', 'hook of one', 'dispose one'])
})

test('a plugin with a member "close" ends its services with it alone, and its setup receives them', async () => {
  const { events, Pool } = makePlugins()
  const { kernel } = makeKernel()
  const plugin = definePlugin({
    name: 'database',
    options: option.shape({ url: option.text().default('memory:') }),
    provide: ({ url }) => ({ pool: new Pool(url), answer: 42 }),
    setup(_ctx, _settings, { pool, answer }) {
      events.push(`setup with ${pool.name} and ${answer.toFixed()}`)
    },
    close: async ({ pool }) => {
      await null
      events.push(`close ${pool.name}`)
    },
  })
  kernel.register(plugin())
  await kernel.ready()
  await kernel.close()
  expect(events).toEqual(['open memory:', 'setup with memory: and 42', 'close memory:'])
})

test('they are ended when the boot fails, also those of plugins that it did not reach', async () => {
  const { events, pool } = makePlugins()
  const { kernel } = makeKernel()
  const fail = () => {
    throw new Error('no table')
  }
  kernel.register(pool('one')).register(pool('two', fail)).register(pool('three'))
  await expect(kernel.ready()).rejects.toThrow('no table')
  expect(events.slice(3)).toEqual(['dispose three', 'hook of two', 'dispose two', 'hook of one', 'dispose one'])
})

test('they are ended when a server closes that never booted, and when its constructor fails', async () => {
  const { events, pool } = makePlugins()
  const { kernel } = makeKernel()
  kernel.register(pool('one'))
  await kernel.close()
  expect(events.splice(0)).toEqual(['open one', 'dispose one'])

  const broken = definePlugin({
    name: 'broken',
    provide: () => {
      throw new Error('no driver')
    },
  })
  expect(() => new Server({ plugins: [pool('two'), broken()], router: new RouteCollection() })).toThrow('no driver')
  await expect.poll(() => events).toEqual(['open two', 'dispose two'])
})

test('no service exists before the options of all plugins are right', () => {
  const { events, pool } = makePlugins()
  const limited = definePlugin({ name: 'limited', options: option.shape({ limit: option.int().required() }) })
  const plugins = [pool('one'), limited({ limit: 'many' as never })]
  expect(() => new Server({ plugins, router: new RouteCollection() })).toThrow('"limited.limit"')
  expect(events).toEqual([])
})

test('a service that cannot be ended is an error of close() that names its plugin, and the others are ended', async () => {
  const { events, pool } = makePlugins()
  const { kernel } = makeKernel({ logger: memoryLogger() })
  const stuck = definePlugin({
    name: 'stuck',
    provide: () => ({ stuck: 1 }),
    close: () => Promise.reject(new Error('still in use')),
  })
  kernel.register(pool('one')).register(stuck())
  await kernel.ready()
  await expect(kernel.close()).rejects.toMatchObject({
    code: 'CloseHookError',
    message: expect.stringContaining('stuck'),
  })
  expect(events).toContain('dispose one')
})

test('a member "close" that is not a function is refused', () => {
  expect(() => definePlugin({ name: 'a', close: true as never })).toThrow('close must be a function')
})

test('a service that two plugins provide, or one twice, is ended once, by the first plugin', async () => {
  const { events, Pool } = makePlugins()
  const { kernel } = makeKernel()
  const pool = new Pool('one')
  const plugin = (name: string, services: object) =>
    definePlugin({
      name,
      provide: () => services,
      setup: (ctx) => ctx.onClose(() => void events.push(`hook of ${name}`)),
    })()
  kernel.register(plugin('a', { one: pool, two: pool })).register(plugin('b', { three: pool }))
  await kernel.ready()
  await kernel.close()
  expect(events).toEqual(['open one', 'hook of b', 'hook of a', 'dispose one'])
})

test('a service that cannot be disposed of does not keep the others of its plugin', async () => {
  const { events, Pool } = makePlugins()
  const { kernel } = makeKernel()
  const stuck = {
    get [Symbol.asyncDispose](): never {
      throw new Error('still in use')
    },
  }
  kernel.register(definePlugin({ name: 'several', provide: () => ({ pool: new Pool('one'), stuck }) })())
  await kernel.ready()
  await expect(kernel.close()).rejects.toMatchObject({
    code: 'CloseHookError',
    message: expect.stringContaining('"several"'),
  })
  expect(events).toEqual(['open one', 'dispose one'])
})

test('a Proxy that has a method for every name is not called', async () => {
  const { kernel } = makeKernel()
  const called: unknown[] = []
  const client = new Proxy({}, { get: (_target, name) => () => called.push(name) })
  kernel.register(definePlugin({ name: 'remote', provide: () => ({ client }) })())
  await kernel.ready()
  await kernel.close()
  expect(called).toEqual([])
})
