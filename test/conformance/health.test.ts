import { existsSync } from 'node:fs'
import { BlobServiceClient } from '@azure/storage-blob'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BlobServer, startBlob } from '../support/blob.ts'
import { hasMosquitto, startMosquitto } from '../support/mosquitto.ts'
import { freePort, type OwnServer } from '../support/own-server.ts'
import { hasPostgres, startPostgres } from '../support/postgres.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { startS3 } from '../support/s3.ts'
import { type SmtpServer, startSmtp } from '../support/smtp.ts'
import { measured, type RunningApp, startApp } from './targets.ts'

const hasAll = hasRedis && hasPostgres && hasMosquitto

describe.skipIf(!hasAll)('readiness while every other server is away', () => {
  let own: OwnServer[]
  let blob: BlobServer
  let smtp: SmtpServer
  const apps = new Map<string, RunningApp>()

  beforeAll(async () => {
    const [redis, postgres, mqtt, s3] = await Promise.all([startRedis(), startPostgres(), startMosquitto(), startS3()])
    blob = await startBlob()
    own = [redis, postgres, mqtt, s3, blob]
    smtp = await startSmtp({}, await freePort())
    await createContainer()
    const services = {
      redis: redis.url,
      postgres: postgres.url,
      mqtt: mqtt.url,
      s3: s3.url,
      azure: blob.connectionString,
      smtp: smtp.port,
    }
    for (const target of measured)
      apps.set(target.name, await startApp(target, { services, schema: target.name }, { file: 'health.mjs' }))
  })
  afterAll(async () => {
    for (const app of apps.values()) await app.stop()
    await Promise.all([...own.map((one) => one.stop()), smtp.stop()])
  })

  const createContainer = async () => {
    const service = BlobServiceClient.fromConnectionString(blob.connectionString)
    await service.getContainerClient('objects').createIfNotExists()
  }
  const get = async (app: RunningApp, path: string) => {
    const began = performance.now()
    const res = await fetch(`http://127.0.0.1:${app.port}${path}`)
    return { status: res.status, text: await res.text(), ms: performance.now() - began }
  }
  const ready = async (app: RunningApp) => {
    const { status, text } = await get(app, '/health/ready')
    return [status, JSON.parse(text)] as const
  }
  const each = (work: (app: RunningApp, name: string) => Promise<void>) =>
    Promise.all([...apps].map(([name, app]) => work(app, name)))

  const [needed, substituted] = [
    ['session', 'channels', 'queues', 'mqtt'],
    ['rateLimit', 'cache', 'storage', 'mailer'],
  ]
  const all = (outcome: string, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, outcome]))
  const checks = all('ok', [...needed, ...substituted])
  const allOk = [200, { status: 'ok', checks }] as const

  test('each check notices it within its time, keeps no connection, and notices the return', async () => {
    await each((app) => expect.poll(() => ready(app), { timeout: 30_000, interval: 500 }).toEqual(allOk))

    await Promise.all([...own.map((one) => one.kill()), smtp.stop()])
    const down = { ...all('error', needed), ...all('degraded', substituted) }
    await each(async (app) => {
      const { status, text, ms } = await get(app, '/health/ready')
      expect([status, JSON.parse(text)]).toEqual([503, { status: 'error', checks: down }])
      // The timeout of a check is 2 s, and drivers wait for 30 s or longer; the rest is a margin for a loaded machine.
      expect(ms).toBeLessThan(25_000)
      const metrics = await get(app, '/metrics')
      for (const name of needed) expect(metrics.text).toContain(`health_check{check="${name}"} 0\n`)
      for (const name of substituted) expect(metrics.text).toContain(`health_check{check="${name}"} 0.5\n`)
    })

    if (existsSync('/proc/self/fd')) {
      await each(async (app, name) => {
        const open = async () => Number((await get(app, '/descriptors')).text)
        const before = await open()
        // A connection of each would be seen: they are twenty.
        for (let i = 0; i < 2; i++) {
          const probes = await Promise.all(Array.from({ length: 10 }, () => ready(app)))
          expect(new Set(probes.map(([status]) => status)), name).toEqual(new Set([503]))
        }
        // The connections of the probes themselves stay open.
        await expect.poll(open, { timeout: 20_000, interval: 250 }).toBeLessThanOrEqual(before + 12)
      })
    }

    await Promise.all(own.map((one) => one.restart()))
    smtp = await startSmtp({}, smtp.port)
    // It keeps nothing.
    await createContainer()
    await each((app) => expect.poll(() => ready(app), { timeout: 30_000, interval: 500 }).toEqual(allOk))
  })

  test('a server that accepts connections and does not respond is away as well', async () => {
    for (const one of own) one.freeze()
    try {
      await each(async (app) => {
        const { text, ms } = await get(app, '/health/ready')
        const down = { ...all('error', needed), ...all('degraded', substituted), mailer: 'ok' }
        expect(JSON.parse(text).checks).toEqual(down)
        expect(ms).toBeLessThan(25_000)
      })
    } finally {
      for (const one of own) one.thaw()
    }
    await each((app) => expect.poll(() => ready(app), { timeout: 30_000, interval: 500 }).toEqual(allOk))
  })
})
