import { RouteCollection, Server } from 'framework'
import { afterAll, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

vi.mock('node:module', async (original) => {
  const actual = await original<typeof import('node:module')>()
  const createRequire = (from: string) => {
    const require = actual.createRequire(from)
    const resolve = (name: string) => {
      if (name !== 'swagger-ui-dist') return require.resolve(name)
      throw Object.assign(new Error(`Cannot find module '${name}'\nRequire stack:\n- ${from}`), {
        code: 'MODULE_NOT_FOUND',
      })
    }
    return Object.assign((name: string) => require(name), require, { resolve })
  }
  return { ...actual, createRequire, default: { ...actual, createRequire } }
})

const logger = memoryLogger()
const server = new Server({ router: new RouteCollection(), logger, plugins: { openapi: { info: { title: 'A & B' } } } })
afterAll(() => server.close())

test('without the package the page says how to install it, and the document works', async () => {
  const page = await server.inject.get('/docs')
  page.assertStatus(501).assertHeader('content-type', 'text/html; charset=utf-8')
  expect(page.text()).toContain('<h1>A &amp; B</h1>')
  expect(page.text()).toMatch(
    /the page of the openapi plugin needs the package &quot;swagger-ui-dist&quot;.*npm install swagger-ui-dist/,
  )
  expect(page.text()).toContain('<a href="docs/json">JSON</a>')
  expect((await server.inject.get('/docs/json')).statusCode()).toBe(200)
  expect((await server.inject.get('/docs/yaml')).statusCode()).toBe(200)
  expect((await server.inject.get('/docs/ui/swagger-ui.css')).statusCode()).toBe(404)
  expect(logger.entries.map(({ level, message }) => [level, message])).toEqual([
    [
      'warn',
      expect.stringContaining(
        'the page at /docs is not available: the page of the openapi plugin needs the package "swagger-ui-dist"',
      ),
    ],
  ])
  // It is for people who install packages: no stack helps them.
  expect(logger.entries[0]?.fields).not.toHaveProperty('err')
})
