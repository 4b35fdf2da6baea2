import { expect, test, vi } from 'vitest'

test('a name is the same before and after the first tenant of a process, and never that of a tenant', async () => {
  vi.resetModules()
  const { nameInTenant, withTenant } = await import('../../../../plugins/shared/values/tenants.ts')
  const names = () => ['orders', '@a/orders'].map((name) => nameInTenant(name))
  const before = names()
  expect(before).toEqual(['orders', '@/@a/orders'])
  expect(withTenant({ id: 'a' }, () => nameInTenant('orders'))).toBe('@a/orders')
  expect(names()).toEqual(before)
})
