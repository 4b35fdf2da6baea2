import { createRequire } from 'node:module'
import { account, order } from '../load/suites.ts'
import type { Built } from './built.ts'
import type { MicroCase } from './harness.ts'

// A CommonJS module, whose types are wrong for an ES module import.
const build = createRequire(import.meta.url)('fast-json-stringify') as typeof import('fast-json-stringify').default

const string = { type: 'string' } as const
const integer = { type: 'integer' } as const
const number = { type: 'number' } as const

function object<Properties extends object>(properties: Properties) {
  return { type: 'object', properties, required: Object.keys(properties) } as const
}
function list<Items extends object>(items: Items) {
  return { type: 'array', items } as const
}

const subjects: { group: string; schema: object; value: unknown }[] = [
  {
    group: 'small object',
    schema: object({ id: integer, name: string, admin: { type: 'boolean' } }),
    value: { id: 42, name: 'Ada Lovelace', admin: false, password: 'secret' },
  },
  {
    group: 'account, 0.5 KB',
    schema: object({
      id: integer,
      name: string,
      email: string,
      locale: string,
      roles: list(string),
      orders: list(object({ id: integer, total: number, at: string })),
    }),
    value: account,
  },
  {
    group: 'order, 1 KB',
    schema: object({
      id: integer,
      customer: object({ name: string, email: string, street: string, city: string }),
      lines: list(object({ sku: string, title: string, price: number, quantity: integer })),
    }),
    value: order,
  },
  {
    group: 'list of 1000',
    schema: list(object({ id: integer, name: string, score: number })),
    value: Array.from({ length: 1000 }, (_, i) => ({ id: i, name: `user number ${i}`, score: i * 1.5, secret: i })),
  },
]

/**
 * Writes answers according to a schema. The byte length of the text is taken as well, as it is on sending: that joins its pieces.
 *
 * fast-json-stringify alone checks nothing: a string in place of a number becomes `null` or another number.
 */
export async function responsesCases(built: Built): Promise<MicroCase[]> {
  const { Responses } = await built.responses()
  const service = new Responses()
  return subjects.flatMap(({ group, schema, value }) => {
    const alone = build(schema as Parameters<typeof build>[0])
    const shaped = service.compile({ 200: schema }, { route: group })
    if (alone(value) !== shaped(value, 200)) throw new Error(`${group}: the texts differ`)
    let length = 0
    return [
      {
        group,
        name: 'fast-json-stringify',
        run(times) {
          for (let i = 0; i < times; i++) length += Buffer.byteLength(alone(value))
        },
      },
      {
        group,
        name: 'JSON.stringify',
        run(times) {
          for (let i = 0; i < times; i++) length += Buffer.byteLength(JSON.stringify(value))
        },
      },
      {
        group,
        name: 'framework',
        run(times) {
          for (let i = 0; i < times; i++) length += Buffer.byteLength(shaped(value, 200))
          return length
        },
      },
    ] satisfies MicroCase[]
  })
}
