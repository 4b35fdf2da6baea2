import { type Logger, logger, type MqttService, router, Server } from 'framework'
import { health, log } from 'framework/plugins'
import type { Equal, Expect } from './expect.ts'

new Server({ plugins: { log: true, health: true } })
new Server({ plugins: { log: { level: 'warn', logResponse: false, redact: ['user.email'], stream: process.stderr } } })
new Server([log({ stream: { write: (line) => line.length } }), health()])
// @ts-expect-error no such level
log({ level: 'loud' })
// @ts-expect-error paths are a list
log({ redact: 'password' })
// @ts-expect-error a stream writes
log({ stream: {} })

router.get('/types/quiet', { log: false }, () => 1)
// @ts-expect-error the route option is a boolean
router.get('/types/loud', { log: 'yes' }, () => 1)

export type Checks = [Expect<Equal<typeof logger, Logger>>]
logger.info('text')
logger.child({ job: 1 }).error({ err: new Error('x') }, 'text')
// @ts-expect-error the fields come first
logger.info('text', { a: 1 })

const withServices = new Server({
  background: { queues: {} },
  plugins: {
    mqtt: { connect: { provider: 'memory' } },
    health: {
      checks: {
        mqtt: (services) => services.get('mqtt').check(),
        queues: (services) => services.get('queues').health(),
        emails: async ({ mailer }) => mailer?.verify(),
      },
    },
  },
})
type _mqtt = Expect<Equal<typeof withServices.services.mqtt, MqttService>>
// @ts-expect-error no such service
health({ checks: { a: (services) => services.get('nothing') } })
health({ checks: { a: () => true, b: async () => {} }, timeout: 500, live: '/livez', ready: false })
// @ts-expect-error a check is a function
health({ checks: { a: true } })
// @ts-expect-error milliseconds are a number
health({ timeout: '2s' })
// @ts-expect-error no such option
new Server({ plugins: { health: { check: {} } } })
