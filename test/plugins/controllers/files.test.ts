import { join } from 'node:path'
import { definePlugin, RouteCollection, router, Server, type ServerOptions } from 'framework'
import { Kernel, kernelOptions } from 'framework/kernel'
import { controllers } from 'framework/plugins/controllers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const folder = 'test/plugins/fixtures/controller-files'
const good = `${folder}/good/*.ts`

beforeEach(() => router.clearRoutes())
afterEach(() => router.clearRoutes())

const make = (options: ServerOptions) => {
  const logger = memoryLogger()
  return { server: new Server<{}>({ logger, ...options }), log: logger.entries }
}
const paths = (routes: RouteCollection) => routes.routes.map(({ path }) => path)

describe('controllerPatterns', () => {
  test('are loaded at boot in order of their names, and never at construction', async () => {
    const { server, log } = make({ controllerPatterns: [good] })
    expect(router.routes).toEqual([])
    await server.ready()
    expect(paths(router)).toEqual(['/books', '/films/:id'])
    ;(await server.inject.get('/books')).assertBodyDeepEqual(['Kindred'])
    ;(await server.inject.get('/films/3')).assertBodyDeepEqual('3')
    expect(log).toEqual([])
    await server.close()
  })

  test('serve a second server, after clearRoutes() too, and without', async () => {
    for (const clear of [true, true, false]) {
      if (clear) router.clearRoutes()
      const { server } = make({ controllerPatterns: [good] })
      ;(await server.inject.get('/books')).assertStatus(200)
      expect(paths(router)).toEqual(['/books', '/films/:id'])
      await server.close()
    }
  })

  test('go into the collection that the server mounts', async () => {
    const own = new RouteCollection()
    const { server } = make({ controllerPatterns: [good], router: own })
    ;(await server.inject.get('/books')).assertStatus(200)
    expect(paths(own)).toEqual(['/books', '/films/:id'])
    await server.close()
  })

  test('may be absolute, may leave files out, and take a file once', async () => {
    const here = join(import.meta.dirname, '../fixtures/controller-files/good')
    const { server, log } = make({
      controllerPatterns: [`${here}/*.{ts,js}`, good, `!${folder}/**/films.ts`, '!**/never/**'],
    })
    await server.ready()
    expect(paths(router)).toEqual(['/books'])
    expect(log).toEqual([])
    await server.close()
  })

  test('one that matches no file is a warning that names it and the folder', async () => {
    const { server, log } = make({ controllerPatterns: ['src/nowhere/*.ts', good] })
    await server.ready()
    expect(log).toEqual([
      {
        level: 'warn',
        fields: { plugin: 'controllers', pattern: 'src/nowhere/*.ts', folder: process.cwd() },
        message: `controllerPatterns: "src/nowhere/*.ts" matches no file in ${process.cwd()}`,
      },
    ])
    await server.close()
  })

  test('a class with routes and without @controller is a warning', async () => {
    const { server, log } = make({ controllerPatterns: [`${folder}/forgotten/*.ts`] })
    await server.ready()
    expect(log).toMatchObject([
      { level: 'warn', message: 'the class Plain has routes but no @controller: none of them is mounted' },
    ])
    expect(router.routes).toEqual([])
    await server.close()
  })

  test('a file that cannot be loaded fails the boot and is named; its error is the cause', async () => {
    const { server } = make({ controllerPatterns: [`${folder}/{broken,good}/*.ts`] })
    const error = await server.ready().then(
      () => undefined,
      (one: Error & { cause: Error & { cause: Error; code: string } }) => one,
    )
    const file = join(process.cwd(), folder, 'broken/broken.ts')
    expect(error?.message).toContain(`the controller file ${file} cannot be loaded: no database at import`)
    expect(error?.cause.code).toBe('ControllerFileError')
    expect(error?.cause.cause).toBeInstanceOf(TypeError)
    await expect(server.inject.get('/books')).rejects.toThrow('no database at import')
  })

  test('a route that is taken names the file', async () => {
    const own = new RouteCollection()
    own.get('/books', () => 1)
    const { server } = make({ controllerPatterns: [good], router: own })
    await expect(server.ready()).rejects.toThrow(/books\.ts cannot be loaded: GET \/books/)
  })

  test.each([['src/*.ts'], [[1]], [['']], [{}], [null]])('%j is not a list of globs', (patterns) => {
    const message =
      /the option "controllerPatterns(?:\[0\])?" is .*; it takes a (?:list of globs: \['src\/controllers|non-empty string)/
    expect(() => make({ controllerPatterns: patterns as unknown as string[] })).toThrow(message)
    const { server } = make({})
    expect(() => server.getMockServer({ controllerPatterns: patterns as unknown as string[] })).toThrow(message)
  })

  test('an empty list counts as missing', async () => {
    const { server, log } = make({ controllerPatterns: [] })
    await server.ready()
    expect(log).toEqual([])
    await server.close()
  })
})

describe('the mock server', () => {
  test('loads its patterns with the first request, once', async () => {
    const { server } = make({})
    const client = server.getMockServer({ controllerPatterns: [good] })
    expect(router.routes).toEqual([])
    const [one, two] = await Promise.all([client.get('/books'), client.get('/films/1')])
    one.assertStatus(200)
    two.assertStatus(200)
    expect(paths(router)).toEqual(['/books', '/films/:id'])
    await server.close()
  })

  test('loads them into a server that is running, too', async () => {
    const { server } = make({ router: new RouteCollection() })
    ;(await server.inject.get('/books')).assertStatus(404)
    ;(await server.getMockServer({ controllerPatterns: [good] }).get('/books')).assertStatus(200)
    await server.close()
  })

  test('every request of one whose files cannot be loaded rejects', async () => {
    const { server } = make({})
    const client = server.getMockServer({ controllerPatterns: [`${folder}/broken/*.ts`] })
    for (let i = 0; i < 2; i++) await expect(client.get('/books')).rejects.toThrow('no database at import')
    await server.close()
  })

  test('an option that it does not have', () => {
    const { server } = make({})
    const options = { controllerPattern: [good] } as object
    expect(() => server.getMockServer(options)).toThrow(/Did you mean "controllerPatterns"/)
  })
})

describe('the plugin', () => {
  test('takes patterns itself, on a kernel too', async () => {
    const own = new RouteCollection()
    const kernel = new Kernel(kernelOptions.parse({ router: own, logger: memoryLogger() }))
    kernel.register(controllers({ patterns: [good] }))
    await kernel.ready()
    expect(paths(own)).toEqual(['/books', '/films/:id'])
    await kernel.close()
  })

  test('joins its patterns with those of the server', async () => {
    const { server } = make({
      plugins: [controllers({ patterns: [`${folder}/good/books.ts`] })],
      controllerPatterns: [`${folder}/good/films.ts`],
    })
    await server.ready()
    expect(paths(router)).toEqual(['/books', '/films/:id'])
    await server.close()
  })

  test('refuses options that it does not have', () => {
    expect(() => make({ plugins: [controllers({ pattern: [] } as object)] })).toThrow(
      /Did you mean "controllers.patterns"|Did you mean "patterns"/,
    )
    expect(() => make({ plugins: [controllers({ patterns: 'x' as never })] })).toThrow(/"controllers.patterns" is "x"/)
  })

  test('its files can depend on nothing that other plugins set up later', async () => {
    const late = definePlugin({
      name: 'late',
      setup() {
        expect(paths(router)).toEqual(['/books', '/films/:id'])
      },
    })
    const { server } = make({ controllerPatterns: [good], plugins: [late()] })
    await server.ready()
    await server.close()
  })
})
