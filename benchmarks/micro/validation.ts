import { Ajv } from 'ajv'
import { order } from '../load/suites.ts'
import type { Built } from './built.ts'
import type { MicroCase } from './harness.ts'

const string = { type: 'string' } as const
const orderSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    customer: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1 }, email: string, street: string, city: string },
      required: ['name', 'email', 'street', 'city'],
    },
    lines: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          sku: string,
          title: string,
          price: { type: 'number' },
          quantity: { type: 'integer', minimum: 1 },
        },
        required: ['sku', 'title', 'price', 'quantity'],
      },
    },
  },
  required: ['id', 'customer', 'lines'],
} as const

/** Checks a body, compared with Ajv alone. */
export async function validationCases(built: Built): Promise<MicroCase[]> {
  const { RouteCollection, Server } = await built.door()
  const server = new Server({ router: new RouteCollection() })
  await server.ready()
  const alone = new Ajv({ useDefaults: true }).compile(orderSchema)
  const check = server.services.get('validation').compile(orderSchema, 'body', 'POST /orders', 'body')
  return [
    {
      group: 'body of 1 KB',
      name: 'Ajv',
      run(times) {
        for (let i = 0; i < times; i++) if (!alone(order)) throw new Error('the order is refused')
      },
    },
    {
      group: 'body of 1 KB',
      name: 'framework',
      run(times) {
        for (let i = 0; i < times; i++) {
          const verdict = check(order)
          if (verdict instanceof Promise || !verdict.ok) throw new Error('the order is refused')
        }
      },
    },
  ]
}
