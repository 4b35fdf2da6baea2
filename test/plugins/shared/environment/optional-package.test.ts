import { peer, peers } from 'framework/kernel'
import { afterEach, expect, test, vi } from 'vitest'
import { definePlugin, Server } from '../../../../index.ts'
import { memoryLogger } from '../../../support/kernel.ts'

afterEach(() => vi.unstubAllGlobals())

const feature = 'the cache plugin (provider "redis")'

test('returns an installed module', async () => {
  const { join } = await peer('node:path', () => import('node:path'), feature)
  expect(join('a', 'b')).toBe('a/b')
})

test('a package that is not installed is one error: feature, package, how to add it', async () => {
  const name = 'no-such-package-anywhere'
  await expect(peer(name, () => import(/* @vite-ignore */ name), feature)).rejects.toMatchObject({
    code: 'PeerMissingError',
    message: expect.stringMatching(
      /^the cache plugin \(provider "redis"\) needs the package "no-such-package-anywhere", which is not installed\. Add it: \w+ (install|add) no-such-package-anywhere$/,
    ),
    cause: expect.anything(),
  })
})

test('an installed package that fails to load throws its own error', async () => {
  const failure = new Error('it is broken')
  await expect(peer('redis', () => Promise.reject(failure), feature)).rejects.toBe(failure)
})

test('a package whose own dependency is missing is not taken for missing itself', async () => {
  const failure = Object.assign(new Error("Cannot find package 'denque' imported from /app/node_modules/redis/x.js"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  await expect(peer('redis', () => Promise.reject(failure), feature)).rejects.toBe(failure)
})

/** In the form of Node.js, whatever is installed here. */
const absent = (name: string) => () =>
  Promise.reject(
    Object.assign(new Error(`Cannot find package '${name}' imported from x`), { code: 'ERR_MODULE_NOT_FOUND' }),
  )

const missing = (name: string) => peer(name, absent(name), feature)

test('the version to add is one that is supported, and runs on this Node.js', async () => {
  const added = async (name: string, version?: string) => {
    if (version !== undefined)
      vi.stubGlobal('process', { ...process, versions: { ...process.versions, node: version } })
    const { message } = await missing(name).catch((error: Error) => error)
    vi.unstubAllGlobals()
    return /\S+$/.exec(message)?.[0]
  }
  expect(await added('graphql', '20.20.2')).toBe('graphql@16')
  expect(await added('graphql', '24.1.0')).toBe('graphql@17')
  expect(await added('graphql-jit')).toBe('graphql-jit@0.8')
  expect(await added('ejs')).toBe('ejs@7')
  expect(await added('ws')).toBe('ws@8')
  expect(await added('ioredis')).toBe('ioredis@6')
})

test('the packages of one feature are missing in one error, with one command', async () => {
  await expect(peers(missing('bullmq'), Promise.resolve(1), missing('mqtt'))).rejects.toMatchObject({
    code: 'PeerMissingError',
    message: expect.stringMatching(
      /needs the packages "bullmq" and "mqtt", which are not installed\. Add them: \w+ (install|add) bullmq@6 mqtt@5$/,
    ),
  })
  expect(await peers(Promise.resolve(1), Promise.resolve('two'))).toEqual([1, 'two'])
})

test('a server lists in one error which packages its plugins need, and leaves out consequences', async () => {
  const needs = (name: string) => definePlugin({ name, setup: () => missing(name).then(() => {}) })()
  const follows = definePlugin({
    name: 'follows',
    setup() {
      throw new Error('it finds nothing')
    },
  })()
  const server = new Server({ logger: memoryLogger() })
  server.register(needs('mqtt')).register(follows).register(needs('ws'))
  const failure = await server.ready().catch((error: Error) => error)
  expect((failure as Error).message).toMatch(/2 plugins cannot run here:\n- .*mqtt@5\n- .*ws@8$/)
})
