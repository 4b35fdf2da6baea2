import { test } from 'bun:test'
import { testPlugin } from 'framework/testing/contracts'
import { orders } from '../orders.ts'

testPlugin(orders, {
  test,
  options: { max: 1000 },
  wrongOptions: { max: [0, 'many'] },
  use: async (server) => (await server.inject.post('/orders')).assertStatus(201),
})
