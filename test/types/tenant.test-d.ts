import { currentTenant, router, type Tenant, withTenant } from 'framework'
import { tenant } from 'framework/plugins/tenant'
import type { Equal, Expect } from './expect.ts'

router.get('/a', { tenant: 'required' }, (req) => {
  const { id } = req.tenant
  type _id = Expect<Equal<typeof id, string>>
})
router.get('/c', { tenant: 'optional' }, () => currentTenant()?.id)
// @ts-expect-error there may be none
router.get('/b', { tenant: 'optional' }, () => currentTenant().id)
// @ts-expect-error `true` is not a mode
router.get('/d', { tenant: true }, () => 1)

const running = currentTenant()
type _running = Expect<Equal<typeof running, Tenant | undefined>>
const found = withTenant({ id: 'acme' }, async () => 7)
type _found = Expect<Equal<typeof found, Promise<number>>>
// @ts-expect-error a tenant is an object
withTenant('acme', () => 1)

tenant({ resolve: (req) => req.params.tenant })
tenant({ resolve: () => Promise.resolve(undefined), load: async (id) => ({ id }), default: 'optional' })
// @ts-expect-error the plugin cannot find tenants by itself
tenant({})
// @ts-expect-error an id is a string
tenant({ resolve: () => 7 })
