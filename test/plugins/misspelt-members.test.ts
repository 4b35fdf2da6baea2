import {
  AzureBlobStorageProvider,
  bullmqQueue,
  CronService,
  channel,
  cron,
  defineQueueConfiguration,
  HttpError,
  LocalStorageProvider,
  Mailer,
  MemoryStorageProvider,
  MqttService,
  memoryQueue,
  memoryTransport,
  mqtt,
  pgbossQueue,
  QueueService,
  RouteCollection,
  type RouteOptions,
  S3StorageProvider,
  Server,
  type ServerOptions,
  Storage,
  sqsQueue,
} from 'framework'
import { defineContract } from 'framework/contract'
import { describe, expect, test } from 'vitest'
import { memoryLogger } from '../support/kernel.ts'

const from = 'shop@example.org'
const mailer = (provider: object) => new Mailer({ main: provider } as never, { defaultProvider: 'main' })
const send = (build: (mail: never) => unknown) => {
  return mailer({ transporter: memoryTransport(), from }).send(build as never)
}
const attached = (attachment: object) =>
  send((one: { to(to: string): { attachment(given: object): object } }) => one.to(from).attachment(attachment))
const smtp = (options: object) => mailer({ transporter: options, from })
const local = (options: object) => new LocalStorageProvider({ root: '.', ...options } as never)
const s3 = (options: object) => new S3StorageProvider({ bucket: 'a', region: 'b', ...options } as never)
const azure = (options: object) => new AzureBlobStorageProvider({ container: 'a', ...options } as never)
const secret = 'x'.repeat(32)
const will = (given: object) =>
  new MqttService({ provider: 'memory', will: { topic: 'a', message: 'b', ...given } } as never)

async function server(options: object, work: (server: Server) => unknown): Promise<void> {
  await using made = new Server({ router: new RouteCollection(), logger: memoryLogger(), ...options } as ServerOptions)
  await work(made)
}

const everything = {
  cache: true,
  upload: true,
  rateLimit: true,
  timeout: true,
  compression: true,
  cookie: true,
  asyncapi: {},
  channels: {},
  websocket: {},
}
const route = (options: object) =>
  server({ plugins: everything }, (server) => {
    server.post('/a', options as RouteOptions, () => 1)
    return server.ready()
  })
const socket = (options: object, handlers: object = { message() {} }) =>
  server({ plugins: everything }, (server) => {
    server.ws('/a', options as never, handlers as never)
    return server.ready()
  })
const schema = { type: 'object', properties: {} }

/** What a handler throws, through an injected request. */
const handled = (work: (res: never) => unknown) =>
  server({ plugins: everything }, async (server) => {
    let thrown: unknown
    server.get('/a', async (_req, res) => {
      try {
        await work(res as never)
        await (res as { opening?: Promise<unknown> }).opening
      } catch (error) {
        thrown = error
      }
      return 1
    })
    await server.inject.get('/a').catch((error: unknown) => {
      thrown ??= error
    })
    if (thrown !== undefined) throw thrown
  })
type Response = {
  cookie(...given: unknown[]): void
  file(...given: unknown[]): unknown
  download(...given: unknown[]): unknown
  clearCookie(...given: unknown[]): unknown
}

const contract = (one: object) => defineContract({ one: { method: 'GET', path: '/a', ...one } } as never)
const pgboss = (options: { [name: string]: unknown }) => defineQueueConfiguration({ pgboss: { options } })
const attribute = (value: object) =>
  sqsQueue<number>('a').publish(1, { MessageAttributes: { kind: { DataType: 'String', ...value } } } as never)
const room = channel('rooms-of-misspelt-members', { join: () => true })
const asyncapi = (options: object) => server({ plugins: { asyncapi: options } }, () => {})
const inject = (work: (server: Server) => unknown) => server({}, work)

const subscribe = mqtt.subscribe as (...given: unknown[]) => unknown

/** Each call has one misspelt member: its name, and the one that was meant. */
const calls: readonly [call: string, misspelt: string, meant: string, work: () => unknown][] = [
  [
    'a mail provider',
    'templateAdaptor',
    'templateAdapter',
    () => {
      mailer({ transporter: memoryTransport(), from, templateAdaptor: { render: () => '' } })
    },
  ],
  [
    'a mailer',
    'timeuot',
    'timeout',
    () =>
      new Mailer({ main: { transporter: memoryTransport(), from } }, { defaultProvider: 'main', timeuot: 1 } as never),
  ],
  ['SMTP', 'secrue', 'secure', () => smtp({ host: 'a.test', secrue: true })],
  ['SMTP', 'requireTSL', 'requireTLS', () => smtp({ host: 'a.test', requireTSL: true })],
  ['SMTP: auth', 'psas', 'pass', () => smtp({ host: 'a.test', auth: { user: 'a', psas: 'b' } })],
  ['SMTP', 'ignoreTSL', 'ignoreTLS', () => smtp({ host: 'a.test', ignoreTSL: true })],
  ['SMTP', 'socketTimout', 'socketTimeout', () => smtp({ host: 'a.test', socketTimout: 1 })],
  ['SMTP', 'maxMesages', 'maxMessages', () => smtp({ host: 'a.test', maxMesages: 1 })],
  ['a sender', 'nmae', 'name', () => mailer({ transporter: memoryTransport(), from: { address: from, nmae: 'Shop' } })],
  [
    'a recipient',
    'nmae',
    'name',
    () => send((one: { to(to: object): object }) => one.to({ address: from, nmae: 'a' })),
  ],
  ['an attachment', 'filname', 'filename', () => attached({ content: 'a', filname: 'b' })],
  [
    'Mailer.close',
    'timeuot',
    'timeout',
    () => mailer({ transporter: memoryTransport(), from }).close({ timeuot: 1 } as never),
  ],

  ['a local storage', 'signedUrl', 'signedUrls', () => local({ signedUrl: { secret } })],
  ['a local storage: signedUrls', 'orgin', 'origin', () => local({ signedUrls: { secret, orgin: 'https://a.test' } })],
  ['S3', 'forcePathStlye', 'forcePathStyle', () => s3({ forcePathStlye: true })],
  [
    'S3: credentials',
    'secretAccesKey',
    'secretAccessKey',
    () => s3({ credentials: { accessKeyId: 'a', secretAccesKey: 'b' } }),
  ],
  ['S3: cdn', 'keyPairID', 'keyPairId', () => s3({ cdn: { url: 'https://a.test', keyPairID: 'b' } })],
  ['Azure', 'connectionSting', 'connectionString', () => azure({ connectionSting: 'a' })],
  [
    'a storage',
    'defaultProvder',
    'defaultProvider',
    () => new Storage({ files: new MemoryStorageProvider() }, { defaultProvder: 'files' } as never),
  ],
  [
    'the sink of a storage',
    'prefx',
    'prefix',
    () => new Storage({ files: new MemoryStorageProvider() }).sink({ prefx: 'a' } as never),
  ],

  ['memoryQueue', 'shcema', 'schema', () => memoryQueue('a', { shcema: schema } as never)],
  ['bullmqQueue', 'shcema', 'schema', () => bullmqQueue('a', { shcema: schema } as never)],
  ['pgbossQueue', 'shcema', 'schema', () => pgbossQueue('a', { shcema: schema } as never)],
  ['sqsQueue', 'shcema', 'schema', () => sqsQueue('a', { shcema: schema } as never)],
  [
    'subscribe',
    'concurency',
    'concurrency',
    () => memoryQueue<number>('a').subscribe(() => {}, { concurency: 2 } as never),
  ],
  ['publish in memory', 'atempts', 'attempts', () => memoryQueue<number>('a').publish(1, { atempts: 2 } as never)],
  [
    'publish in memory: backoff',
    'dealy',
    'delay',
    () => memoryQueue<number>('a').publish(1, { backoff: { type: 'fixed', dealy: 1 } } as never),
  ],
  [
    'publishMany',
    'atempts',
    'attempts',
    () => memoryQueue<number>('a').publishMany([1], () => ({ atempts: 2 }) as never),
  ],
  [
    'BullMQ: removeOnComplete',
    'cuont',
    'count',
    () => bullmqQueue<number>('a').publish(1, { removeOnComplete: { age: 1, cuont: 2 } } as never),
  ],
  [
    'BullMQ: repeat',
    'patern',
    'pattern',
    () => bullmqQueue<number>('a').publish(1, { repeat: { key: 'a', every: 5, patern: '* * * * *' } } as never),
  ],
  ['pg-boss', 'retryLimt', 'retryLimit', () => pgbossQueue<number>('a').publish(1, { retryLimt: 2 } as never)],
  ['SQS', 'DelaySecond', 'DelaySeconds', () => sqsQueue<number>('a').publish(1, { DelaySecond: 2 } as never)],
  ['SQS: MessageAttributes', 'StringValeu', 'StringValue', () => attribute({ StringValeu: 'a' })],
  ['the options of pg-boss', 'supervize', 'supervise', () => pgboss({ supervize: true })],
  ['the options of pg-boss', 'migrat', 'migrate', () => pgboss({ migrat: false })],
  ['QueueService.stop', 'timeuot', 'timeout', () => QueueService.stop({ timeuot: 1 } as never)],

  ['mqtt.subscribe', 'concurency', 'concurrency', () => subscribe('a', () => {}, { concurency: 1 })],
  ['mqtt.subscribe of a method', 'concurency', 'concurrency', () => subscribe('a', { concurency: 1 })],
  ['mqtt.topic', 'shcema', 'schema', () => mqtt.topic('a', { shcema: schema } as never)],
  ['MQTT', 'reconectDelay', 'reconnectDelay', () => new MqttService({ provider: 'memory', reconectDelay: 1 } as never)],
  ['a last will', 'reatin', 'retain', () => will({ reatin: true })],
  [
    'publish of MQTT',
    'reatin',
    'retain',
    () => new MqttService({ provider: 'memory' }).publish('a', 'b', { reatin: true } as never),
  ],
  [
    'MqttService.stop',
    'timeuot',
    'timeout',
    () => new MqttService({ provider: 'memory' }).stop({ timeuot: 1 } as never),
  ],

  ['cron', 'overlpa', 'overlap', () => cron('* * * * *', { overlpa: 'queue' } as never)],
  [
    'the lock of crons',
    'tabel',
    'table',
    () => {
      new CronService({ lock: { postgres: { host: 'a.test', tabel: 'b' } } } as never)
    },
  ],
  ['CronService.stop', 'timeuot', 'timeout', () => new CronService({ crons: [] }).stop({ timeuot: 1 } as never)],

  ['channel', 'presense', 'presence', () => channel('a', { join: () => true, presense: () => 1 } as never)],
  [
    'channel: history',
    'mesages',
    'messages',
    () => channel('a', { join: () => true, history: { mesages: 1 } } as never),
  ],
  ['publish to a channel', 'excpet', 'except', () => room.publish({}, { excpet: 'a' } as never)],
  ['publish to a channel: to', 'cleint', 'client', () => room.publish({}, { to: { user: 'a', cleint: 'b' } } as never)],

  ['a websocket', 'protcols', 'protocols', () => socket({ socket: { protcols: ['a'] } })],
  ['a websocket', 'mesage', 'message', () => socket({}, { mesage() {} })],
  ['route: json', 'sizeLimt', 'sizeLimit', () => route({ json: { sizeLimt: 1 } })],
  ['route: cache', 'tagz', 'tags', () => route({ cache: { tagz: ['a'] } })],
  ['route: upload', 'maxFilez', 'maxFiles', () => route({ upload: { maxFilez: 1 } })],
  ['route: rateLimit', 'limt', 'limit', () => route({ rateLimit: { limt: 1 } })],
  ['route: cache: include', 'hedaers', 'headers', () => route({ cache: { include: { hedaers: ['a'] } } })],

  ['inject', 'haeders', 'headers', () => inject((server) => server.inject({ url: '/a', haeders: {} } as never))],
  ['inject.get', 'cokies', 'cookies', () => inject((server) => server.inject.get('/a', { cokies: {} } as never))],
  [
    'inject.ws',
    'protocls',
    'protocols',
    () => inject((server) => server.inject.ws('/a', { protocls: ['a'] } as never)),
  ],
  [
    'getMockServer',
    'haeders',
    'headers',
    () => inject((server) => server.getMockServer().post('/a', { haeders: {} } as never)),
  ],

  ['HttpError', 'mesage', 'message', () => new HttpError(400, { mesage: 'a' } as never)],
  ['res.cookie', 'htpOnly', 'httpOnly', () => handled((res: Response) => res.cookie('a', 'b', { htpOnly: true }))],
  ['res.clearCookie', 'pahth', 'path', () => handled((res: Response) => res.clearCookie('a', { pahth: '/' }))],
  ['res.file', 'rooot', 'root', () => handled((res: Response) => res.file('package.json', { rooot: '.' }))],
  [
    'res.download',
    'rooot',
    'root',
    () => handled((res: Response) => res.download('package.json', 'a.json', { rooot: '.' })),
  ],
  ['defineContract', 'qurey', 'query', () => contract({ qurey: schema })],

  [
    'asyncapi: servers',
    'descripton',
    'description',
    () => asyncapi({ servers: [{ url: 'wss://a.test', descripton: 'a' }] }),
  ],
  [
    'asyncapi: servers: variables',
    'defualt',
    'default',
    () => asyncapi({ servers: [{ url: 'wss://{one}.a.test', variables: { one: { default: 'b', defualt: 'a' } } }] }),
  ],
  [
    'asyncapi: securitySchemes',
    'bearerFromat',
    'bearerFormat',
    () =>
      asyncapi({ components: { securitySchemes: { one: { type: 'http', scheme: 'bearer', bearerFromat: 'JWT' } } } }),
  ],
]

describe('a misspelt member is an error that names it', () => {
  test.each(calls)('%s: %s', async (_call, misspelt, meant, work) => {
    const error = await Promise.resolve()
      .then(work)
      .then(
        () => undefined,
        (error: Error) => error,
      )
    expect(error?.message ?? 'nothing was refused').toContain(misspelt)
    expect(error?.message).toContain(meant)
  })
})
