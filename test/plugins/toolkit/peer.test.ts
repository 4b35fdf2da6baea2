import { peer } from 'framework/kernel'
import { expect, test } from 'vitest'

const feature = 'the cache plugin (provider "redis")'

test('gives the module that is there', async () => {
  const { join } = await peer('node:path', () => import('node:path'), feature)
  expect(join('a', 'b')).toBe('a/b')
})

test('a package that is not installed is one error: feature, package, how to add it', async () => {
  const name = 'no-such-package-anywhere'
  await expect(peer(name, () => import(/* @vite-ignore */ name), feature)).rejects.toMatchObject({
    code: 'PeerMissingError',
    message: expect.stringMatching(
      /^PEER_MISSING: the cache plugin \(provider "redis"\) needs the package "no-such-package-anywhere", which is not installed\. Add it: \w+ (install|add) no-such-package-anywhere$/,
    ),
    cause: expect.anything(),
  })
})

test('a package that is there and fails to load throws what it throws', async () => {
  const failure = new Error('it is broken')
  await expect(peer('redis', () => Promise.reject(failure), feature)).rejects.toBe(failure)
})

test('a package whose own dependency is missing is not taken for missing itself', async () => {
  const failure = Object.assign(new Error("Cannot find package 'denque' imported from /app/node_modules/redis/x.js"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  await expect(peer('redis', () => Promise.reject(failure), feature)).rejects.toBe(failure)
})
