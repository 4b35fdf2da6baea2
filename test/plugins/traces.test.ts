import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { Mailer, MemoryStorageProvider, memoryTransport, Storage } from 'framework'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { channel, memoryQueue, mqtt, RouteCollection, Server } from '../../index.ts'
import type { RateLimitTrace } from '../../plugins/rateLimit/limiter.ts'

const kinds = [
  'queue.publish',
  'queue.attempt',
  'mail.send',
  'storage',
  'mqtt.publish',
  'mqtt.message',
  'websocket.message',
  'channel.publish',
  'upload',
  'graphql.operation',
  'graphql.resolver',
]
let lines: string[] = []
const clean: (() => void)[] = []
beforeEach(() => {
  lines = []
  for (const kind of kinds) {
    const on = (what: string) => (event: unknown) => void lines.push(`${kind} ${what}${shown(event as object)}`)
    const handlers = {
      start: on('start'),
      end: () => {},
      asyncStart: () => {},
      asyncEnd: on('done'),
      error: on('error'),
    }
    const followed = tracingChannel(`framework:${kind}`)
    followed.subscribe(handlers as never)
    clean.push(() => followed.unsubscribe(handlers as never))
  }
  const onCache = (event: unknown) => void lines.push(`cache ${(event as { outcome: string }).outcome}`)
  subscribe('framework:cache', onCache)
  clean.push(() => unsubscribe('framework:cache', onCache))
})
afterEach(() => {
  for (const one of clean.splice(0)) one()
})

const shown = (event: object) =>
  Object.entries(event)
    .filter(([, value]) => ['string', 'number'].includes(typeof value))
    .map(([name, value]) => (name === 'id' ? ' id' : ` ${value}`))
    .join('')

const of = (kind: string) => lines.filter((line) => line.startsWith(`${kind} `))

test('queues: a publication, and each attempt with its failure', async () => {
  const prints = memoryQueue<number>('traced')
  let fails = true
  const handle = await prints.subscribe(async () => {
    if (!fails) return
    fails = false
    throw new Error('no paper')
  })
  await prints.publish(1, { attempts: 2 })
  await expect.poll(() => of('queue.attempt')).toHaveLength(5)
  expect(of('queue.publish')).toEqual(['queue.publish start traced memory 1', 'queue.publish done traced memory 1'])
  expect(of('queue.attempt').map((line) => line.split(' ')[1])).toEqual(['start', 'error', 'done', 'start', 'done'])
  await handle.unsubscribe()
})

test('storage: each operation', async () => {
  const storage = new Storage({ files: new MemoryStorageProvider() }, { defaultProvider: 'files' })
  await storage.putObject('a.txt', 'x')
  await expect(storage.getObject('b.txt')).rejects.toThrow()
  expect(of('storage')).toEqual([
    'storage start files put a.txt',
    'storage done files put a.txt',
    'storage start files read b.txt',
    'storage done files read b.txt',
  ])
})

test('mail: sent emails', async () => {
  const mailer = new Mailer({ main: { transporter: memoryTransport(), from: 'a@example.com' } }, {
    defaultProvider: 'main',
  } as never)
  await mailer.send((mail) => mail.to('b@example.com').subject('x').text('y'))
  expect(of('mail.send')).toEqual(['mail.send start main', 'mail.send done main'])
})

test('mqtt, websockets, channels, graphql and the cache', async () => {
  const news = channel('news', { join: () => true })
  const routes = new RouteCollection()
  routes.ws('/live', { channels: [news] }, { message: (socket) => socket.send('got it') })
  routes.get('/cached', { cache: { ttl: 1000 } }, () => 'x')
  const schema = { typeDefs: 'type Query { a: Int b: Int }', resolvers: { Query: { a: () => 1 } } }
  const handle = mqtt.subscribe('doors/#' as string, () => {})
  await using server = new Server({
    router: routes,
    port: 0,
    gracefulShutdown: false,
    plugins: {
      websocket: true,
      channels: true,
      cache: true,
      graphql: { schema },
      mqtt: { connect: { provider: 'memory' } },
    },
  })
  await server.listen()
  const socket = await server.inject.ws('/live')
  socket.send('hello')
  await socket.assertNext('got it')
  await news.publish('x')
  await server.services.get('mqtt').publish('doors/1' as never, 'x' as never)
  await server.inject.get('/cached')
  await server.inject.get('/cached')
  const answer = await server.inject.post('/graphql', { body: { query: 'query Ask { a b }' } })
  answer.assertStatus(200)
  await expect
    .poll(() => of('mqtt.message'))
    .toEqual(['mqtt.message start doors/1 doors/# 1', 'mqtt.message done doors/1 doors/# 1'])
  expect(of('mqtt.publish')).toEqual(['mqtt.publish start doors/1 1', 'mqtt.publish done doors/1 1'])
  expect(of('websocket.message')).toEqual([
    'websocket.message start /live application hello',
    'websocket.message done /live application hello',
  ])
  expect(of('channel.publish')).toEqual([
    'channel.publish start news message "x"',
    'channel.publish done news message "x"',
  ])
  expect(of('cache')).toEqual(['cache MISS', 'cache HIT'])
  expect(of('graphql.operation')).toEqual(['graphql.operation start query Ask', 'graphql.operation done query Ask'])
  expect(of('graphql.resolver')).toEqual(['graphql.resolver start Query a', 'graphql.resolver done Query a'])
  await handle.unsubscribe()
})

test('uploads: how many files and bytes a form has, or why it was refused', async () => {
  const server = new Server({ plugins: { upload: { maxFileSize: 10 } }, router: new RouteCollection() })
  server.post('/', (req) => req.files.length)
  const form = (...texts: string[]) => {
    const body = new FormData()
    for (const text of texts) body.append('file', new Blob([text]), 'a.txt')
    return body
  }
  await server.inject.post('/', { formData: form('four', 'seven..') })
  await server.inject.post('/', { formData: form('longer than ten') })
  expect(of('upload')).toEqual([
    'upload start 0 0',
    'upload done 2 11',
    'upload start 0 0',
    'upload error 0 0',
    'upload done 0 0',
  ])
  await server.close()
})

test('rate limits: the outcome of each counted request', async () => {
  const counted: string[] = []
  const onCounted = (event: unknown) => {
    const { limit, accepted } = event as RateLimitTrace
    counted.push(`${limit} ${accepted}`)
  }
  subscribe('framework:rateLimit', onCounted)
  const server = new Server({ plugins: { rateLimit: { limit: 2 } }, router: new RouteCollection() })
  server.get('/', () => 'x')
  server.get('/own', { rateLimit: { limit: 1 } }, () => 'x')
  for (const path of ['/', '/', '/', '/own', '/own']) await server.inject.get(path)
  unsubscribe('framework:rateLimit', onCounted)
  expect(counted).toEqual(['server true', 'server true', 'server false', 'route true', 'route false'])
  await server.close()
})
