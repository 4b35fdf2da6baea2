import { createEnvSchema, type Env, type EnvOf, type EnvSchema, Server } from 'framework'
import { type EnvOptions, env } from 'framework/plugins/env'
import type { Equal, Expect } from './expect.ts'

const variables = (schema: EnvSchema) => ({
  text: schema.string(),
  maybe: schema.string({ optional: true }),
  elsewhere: schema.string({ optional: process.env.NODE_ENV !== 'production', secret: true }),
  port: schema.number({ default: 3000 }),
  on: schema.boolean({ secret: true }),
  level: schema.enum(['debug', 'info'] as const),
  bare: schema.enum(['a', 'b'], { optional: true }),
  digit: schema.enum([1, 2] as const),
  list: schema.array(),
  numbers: schema.array(schema.number(), { default: [1] }),
  perhaps: schema.array(schema.string(), { optional: true }),
  db: schema.object({
    hosts: schema.array(schema.object({ name: schema.string(), port: schema.number({ optional: true }) })),
  }),
  url: schema.custom((raw) => new URL(raw)),
  later: schema.custom(Number, { optional: true }),
})
const read = createEnvSchema(variables, { file: 'a.env' })

type _text = Expect<Equal<EnvOf<typeof variables>['text'], string>>
const get = {
  text: read.get('text'),
  maybe: read.get('maybe'),
  elsewhere: read.get('elsewhere'),
  port: read.get('port'),
  on: read.get('on'),
  level: read.get('level'),
  bare: read.get('bare'),
  digit: read.get('digit'),
  list: read.get('list'),
  numbers: read.get('numbers'),
  perhaps: read.get('perhaps'),
  db: read.get('db'),
  url: read.get('url'),
  later: read.get('later'),
  other: read.get('other' as string),
}
type _got = Expect<
  Equal<
    typeof get,
    {
      text: string
      maybe: string | undefined
      elsewhere: string | undefined
      port: number
      on: boolean
      level: 'debug' | 'info'
      bare: 'a' | 'b' | undefined
      digit: 1 | 2
      list: unknown[]
      numbers: number[]
      perhaps: string[] | undefined
      db: { readonly hosts: { readonly name: string; readonly port: number | undefined }[] }
      url: URL
      later: number | undefined
      other: unknown
    }
  >
>
type _untyped = Expect<Equal<ReturnType<Env['get']>, unknown>>
createEnvSchema().get('a') satisfies unknown
// @ts-expect-error a misspelt name
read.get('prot')

const options: EnvOptions = { schema: variables, file: false, environment: { A: 'a' } }
new Server([env(options)]).services.env.get('a') satisfies unknown
new Server({ plugins: { env: true } })
new Server({ plugins: { env: { schema: (s) => ({ A: s.number() }) } } })

createEnvSchema((s) => ({
  // @ts-expect-error a default of another type
  a: s.number({ default: '3000' }),
  // @ts-expect-error a misspelt option
  b: s.string({ defualt: 'a' }),
  // @ts-expect-error one of the two
  c: s.string({ default: 'a', optional: true }),
  // @ts-expect-error not one of them
  d: s.enum(['a', 'b'] as const, { default: 'c' }),
}))
// @ts-expect-error no builder made it
createEnvSchema(() => ({ A: 'string' }))
// @ts-expect-error a misspelt option
createEnvSchema(variables, { path: '.env' })
