import { once } from 'node:events'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Listener, type ListenerOptions } from '../../../plugins/metrics/listener.ts'
import { freePort, listens } from '../../support/own-server.ts'

const open: Listener[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function makeListener(options: Partial<ListenerOptions>) {
  const ports: number[] = []
  const failures: string[] = []
  const listener = new Listener({
    port: 0,
    host: '127.0.0.1',
    path: '/metrics',
    takesOver: false,
    text: async () => '# EOF\n',
    onListening: (port) => void ports.push(port),
    onFailure: (what) => void failures.push(what),
    ...options,
  })
  open.push(listener)
  return { listener, ports, failures }
}

const statusOf = (port: number, host: string) =>
  new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/metrics', headers: { host } }, (res) => resolve(res.resume().statusCode)).on(
      'error',
      reject,
    )
  })

test('a port that the worker before still has is taken over when it is free; else it is an error', async () => {
  const port = await freePort()
  const before = createServer().listen(port, '127.0.0.1')
  await once(before, 'listening')
  await expect(makeListener({ port }).listener.open()).rejects.toThrow('EADDRINUSE')
  const { listener, ports } = makeListener({ port, takesOver: true })
  await listener.open()
  expect(ports).toEqual([])
  before.close()
  await expect.poll(() => ports).toEqual([port])
  expect(await statusOf(port, 'localhost')).toBe(200)
  await listener.close()
  // One that is closed while it waits does not come back.
  const again = createServer().listen(port, '127.0.0.1')
  await once(again, 'listening')
  const waiting = makeListener({ port, takesOver: true })
  await waiting.listener.open()
  await waiting.listener.close()
  await new Promise((resolve) => again.close(resolve))
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(await listens(port)).toBe(false)
})

test.each(['Localhost', '127.1'])('%s is loopback, too', async (host) => {
  const { listener, ports } = makeListener({ host })
  await listener.open()
  expect(await statusOf(ports[0]!, 'LOCALHOST')).toBe(200)
  expect(await statusOf(ports[0]!, 'evil.example')).toBe(403)
})

test('a scrape that fails is a 500, and reported', async () => {
  const { listener, ports, failures } = makeListener({ text: () => Promise.reject(new Error('no')) })
  await listener.open()
  expect(await statusOf(ports[0]!, 'localhost')).toBe(500)
  expect(failures).toEqual(['scrape'])
})
