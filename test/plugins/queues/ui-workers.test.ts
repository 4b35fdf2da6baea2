import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeProject } from '../../support/cli.ts'
import { hasRedis, startRedis } from '../../support/redis.ts'
import { startWorkers, until } from '../../support/serve.ts'

/** Its messages fail until the file `mended` exists. */
const application = `import { appendFileSync, existsSync } from 'node:fs'
import { bullmqQueue, Server } from 'framework'
const orders = bullmqQueue('orders', { attempts: 1 })
await orders.subscribe((order) => {
  if (!existsSync('mended')) throw new Error('boom in ' + process.pid)
  appendFileSync('done', order + '\\n')
})
const server = new Server({
  drainWindow: 0,
  background: { queues: {
    run: true,
    ui: { middlewares: [(req, res, next) => next()] },
    config: { bullmq: { connection: { url: process.env.REDIS_URL } } },
  } },
})
server.get('/', () => ({ pid: process.pid }))
server.get('/order', async (req) => ({ ids: [await orders.publish(Number(req.query.n))] }))
await server.listen()
`

test.skipIf(!hasRedis)(
  'whichever of two workers responds, the page shows the queue of both, and works on it',
  async () => {
    const redis = await startRedis()
    const project = makeProject({ 'dist/index.js': application }, ['bullmq', 'ioredis'])
    const env = { REDIS_URL: redis.url, HOST: '127.0.0.1' }
    const serving = await startWorkers(project, ['--workers', '2'], { env })
    try {
      await serving.says('2 workers listen')
      const headers = { 'sec-fetch-site': 'same-origin', connection: 'close' }
      const ask = async (query: string, fields?: string) => {
        const form = { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' } as const
        return fetch(`http://127.0.0.1:${serving.port}/queues?${query}`, { headers, ...(fields && form) })
      }
      // New connections go to the workers in turn.
      const pages = () => Promise.all([1, 2, 3, 4].map(async () => (await ask('queue=orders&state=failed')).text()))
      const orders = [1, 2, 3, 4, 5, 6, 7, 8]
      for (const n of orders) await serving.get(`/order?n=${n}`)
      await until('8 failed orders on every page', async () =>
        (await pages()).every((page) => page.includes('failed 8')),
      )

      expect((await ask('queue=orders', 'do=pause')).status).toBe(303)
      await serving.get('/order?n=9')
      await until('a paused queue on every page', async () => (await pages()).every((page) => page.includes('Resume')))
      project.write({ mended: '' })
      expect((await ask('queue=orders', 'do=retry-all')).status).toBe(303)
      await until('no failed order on any page', async () => (await pages()).every((page) => page.includes('failed 0')))
      expect((await ask('queue=orders', 'do=resume')).status).toBe(303)

      const file = join(project.folder, 'done')
      const done = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number).sort() : [])
      await until('9 orders that are done', () => done().length >= 9)
      expect(done()).toEqual([...orders, 9])
      // Without one of them, the other shows the same.
      const { pid } = (await serving.get()) as { readonly pid: number }
      process.kill(pid, 'SIGKILL')
      await serving.says(`(${pid}) ended with SIGKILL`)
      await until('a page without failures', async () => (await pages()).every((page) => page.includes('failed 0')))
    } finally {
      await serving.end()
      await redis.stop()
      project.remove()
    }
  },
)
