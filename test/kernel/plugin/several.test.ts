import { defineMiddleware, definePlugin, type Middleware, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { makeKernel, send } from '../../support/kernel.ts'

type Loose = (...args: unknown[]) => unknown
const guard: Middleware = (_req, res) => res.unauthorized()
const pass: Middleware = (_req, _res, next) => next()
const empty = (name: string) => definePlugin({ name, setup() {} })()

describe('several at once are all taken, or none', () => {
  test('use() of a server and of a context takes all, in the order of writing', async () => {
    const { kernel } = makeKernel()
    const order: string[] = []
    const note =
      (name: string): Middleware =>
      (_req, _res, next) => {
        order.push(name)
        return next()
      }
    kernel.use(note('a'), note('b'), note('c'))
    kernel.register(definePlugin({ name: 'p', setup: (ctx) => ctx.use(note('d'), note('e')) })())
    kernel.get('/', () => 1)
    await send(kernel, '/')
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('a guard in second place refuses', async () => {
    const { kernel } = makeKernel()
    kernel.use(pass, guard)
    kernel.get('/', () => 'open')
    expect((await send(kernel, '/')).status).toBe(401)
  })

  test('a list with something else in it adds nothing', async () => {
    const { kernel } = makeKernel()
    const use = kernel.use.bind(kernel) as Loose
    for (const wrong of [[pass, undefined], [pass, 'x'], ['/x', pass], [[pass]], []]) {
      expect(() => use(...wrong), String(wrong)).toThrow('is neither a plugin nor a middleware')
    }
    kernel.register(
      definePlugin({
        name: 'p',
        setup(ctx) {
          const use = ctx.use.bind(ctx) as Loose
          for (const wrong of [[pass, undefined], []]) {
            expect(() => use(...wrong)).toThrow('use() of the plugin "p" takes a function')
          }
          expect(() => use(definePlugin({ name: 'q', setup() {} }))).toThrow(
            'was given the plugin "q", which belongs in register()',
          )
        },
      })(),
    )
    await kernel.ready()
    expect(kernel.plugins.children.map(({ name, middlewares }) => [name, middlewares])).toEqual([['p', []]])
  })

  test('register() takes one, and says so', async () => {
    const { kernel } = makeKernel()
    const check = (register: Loose) => {
      expect(() => register(empty('a'), empty('b'))).toThrow('The second argument is the plugin "b"')
      expect(() => register(empty('a'), guard)).toThrow('The second argument is the middleware guard')
      expect(() => register(empty('a'), {}, guard)).toThrow('It was given 3 arguments')
      expect(() => register(empty('a'), { prefx: '/admin' })).toThrow(
        'Unknown option "register.prefx". Did you mean "prefix"?',
      )
      expect(() => register(empty('a'), { prefix: 5 })).toThrow('the option "register.prefix"')
      expect(() => register(empty('a'), { prefix: 'admin' })).toThrow('the path "admin" does not begin with "/"')
      expect(() => register(empty('a'), '/admin')).toThrow('the option "register"')
      expect(() => register(guard, { prefix: '/admin' })).toThrow(
        "guard is a middleware, which has no routes for a prefix: write group('/admin', [guard], define)",
      )
    }
    check(kernel.register.bind(kernel) as Loose)
    kernel.register(definePlugin({ name: 'p', setup: (ctx) => check(ctx.register.bind(ctx) as Loose) })())
    await kernel.ready()
    expect(kernel.plugins.children.map(({ name }) => name)).toEqual(['p'])
  })

  test('defineMiddleware() takes one, and says so', () => {
    const define = defineMiddleware as Loose
    expect(() => define(pass, guard)).toThrow('defineMiddleware() takes one function')
    expect(() => define([pass, guard])).toThrow('defineMiddleware() takes a function')
  })
})

test('register() and use() after boot name the late registration', async () => {
  await using server = new Server()
  await server.ready()
  expect(() => server.register(empty('audit'))).toThrow('register() was called after boot, with the plugin "audit"')
  expect(() => server.use(pass, guard)).toThrow('with the middleware pass, the middleware guard')
})
