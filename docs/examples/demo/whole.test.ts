import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printedBy, targets } from '../../../test/conformance/targets.ts'
import { root } from '../../../test/support/cli.ts'
import { hasMosquitto, startMosquitto } from '../../../test/support/mosquitto.ts'
import { hasPostgres, startPostgres } from '../../../test/support/postgres.ts'
import { quickest } from '../../../test/support/quickest.ts'
import { hasRedis, startRedis } from '../../../test/support/redis.ts'
import { startSmtp } from '../../../test/support/smtp.ts'
import { withTypeScript } from '../../../test/support/typescript-process.ts'
import { testLibrary } from './whole.ts'

const script = join(root, 'docs/examples/demo/whole-run.ts')
// Node.js 20 does not run TypeScript.
const run = (target: (typeof targets)[number], env: NodeJS.ProcessEnv) =>
  printedBy(target, script, [], {
    env: { ...env, ...(target.runtime === 'node' && { NODE_OPTIONS: withTypeScript.join(' ') }) },
  }) as Promise<Record<string, number>>

// Of processor time, as the machine may be busy.
test('the whole library in memory, in less than two seconds', async () => {
  const { ms } = await quickest(() => testLibrary('memory'), 3, 2000)
  expect(ms).toBeLessThan(2000)
})

test.skipIf(!hasRedis || !hasPostgres || !hasMosquitto)(
  'the same on Bun and Deno, and with Redis, Postgres, MQTT, SMTP and a folder, whatever runs it',
  async () => {
    const [redis, postgres, mosquitto, smtp, covers] = await Promise.all([
      startRedis(),
      startPostgres(),
      startMosquitto(),
      startSmtp(),
      mkdtemp(join(tmpdir(), 'framework-covers-')),
    ])
    try {
      const env = {
        REDIS_URL: redis.url,
        DATABASE_URL: postgres.url,
        QUEUE_ENGINE: 'pgboss',
        MQTT_HOST: '127.0.0.1',
        MQTT_PORT: String(mosquitto.port),
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
        COVERS: covers,
      }
      const all = targets.filter(({ runtime, adapter }) => ['node', 'bun', 'deno'].includes(runtime) && !adapter)
      for (const target of all) {
        // In memory, this process has run it on Node.js.
        const memory = target.runtime === 'node' ? [] : ['memory']
        const times = await run(target, { ...env, SERVICES: [...memory, 'real'].join() })
        expect(times).toEqual({ real: expect.any(Number), ...(memory.length > 0 && { memory: expect.any(Number) }) })
        for (const name of memory) expect(times[name]).toBeLessThan(2000)
        expect(smtp.received).toMatchObject([{ to: ['grace@example.org'] }])
        smtp.received.length = 0
      }
    } finally {
      await Promise.all([redis.stop(), postgres.stop(), mosquitto.stop(), smtp.stop()])
      await rm(covers, { recursive: true, force: true })
    }
  },
)
