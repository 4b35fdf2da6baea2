import { definePlugin, router, Server } from 'framework'
import type { Equal, Expect } from './expect.ts'

class AuditLog {
  recent: { path: string; ms: number }[] = []
}

declare module 'framework' {
  interface Services {
    auditLog: AuditLog
  }
  interface RouteOptions {
    maxConcurrent?: number
  }
  interface Request {
    tenant?: string
  }
}

definePlugin({
  name: 'audit',
  provide: () => ({ auditLog: new AuditLog() }),
  setup(ctx) {
    const log = ctx.services.get('auditLog')
    type _service = Expect<Equal<typeof log, AuditLog>>
    const maybe = ctx.services.find('auditLog')
    type _maybe = Expect<Equal<typeof maybe, AuditLog | undefined>>
    // @ts-expect-error this service was not declared
    ctx.services.get('nope')
    ctx.onRoute((route) => {
      const max = route.options.maxConcurrent
      type _option = Expect<Equal<typeof max, number | undefined>>
      // @ts-expect-error there is no such slot
      route.add('before', () => {})
    })
  },
})

router.get('/x', { maxConcurrent: 2 }, (req) => {
  const tenant = req.tenant
  type _member = Expect<Equal<typeof tenant, string | undefined>>
})
// @ts-expect-error the option is a number
router.get('/y', { maxConcurrent: 'two' }, () => {})
// @ts-expect-error there is no such option
router.get('/z', { maxConcurent: 2 }, () => {})

// Without a registration in sight the service may be missing.
const maybe = new Server().services.auditLog
type _partial = Expect<Equal<typeof maybe, AuditLog | undefined>>
