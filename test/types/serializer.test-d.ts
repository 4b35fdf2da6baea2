import { Type } from '@sinclair/typebox'
import { serializer } from 'framework'
import { z } from 'zod'
import type { Equal, Expect } from './expect.ts'

interface User {
  id: number
  name: string
  email: string
}
const ann: User = { id: 1, name: 'Ann', email: 'ann@example.com' }
const Public = z.object({ id: z.number(), name: z.string() })

const users = serializer<User>()
  .defineVariant('public', (user) => ({ id: user.id, name: user.name }), Public)
  .defineVariant('own', (user, ctx: { locale: string }) => ({ ...user, locale: ctx.locale }))
  .defineVariant('listed', async (user, ctx?: { upper: boolean }) => (ctx?.upper ? user.name.toUpperCase() : user.name))
  .defineVariant('raw', (user) => user, { type: 'object', required: ['id'] })

export type Checks = [
  Expect<Equal<ReturnType<typeof users.useVariant<'public'>>, Promise<{ id: number; name: string }>>>,
  Expect<Equal<ReturnType<typeof users.useVariant<'listed'>>, Promise<string>>>,
]

const shown = await users.useVariant('public', ann, { validate: true })
const locale: string = (await users.useVariant('own', ann, { ctx: { locale: 'en' } })).locale
users.useVariant('listed', ann)
users.useVariant('listed', ann, { ctx: { upper: true } })
// @ts-expect-error the variant leaves it out
shown.email
// @ts-expect-error no such variant
users.useVariant('pubic', ann)
// @ts-expect-error not a user
users.useVariant('public', { id: 1 })
// @ts-expect-error needs a context
users.useVariant('own', ann)
// @ts-expect-error the wrong context
users.useVariant('own', ann, { ctx: { locale: 1 } })
// @ts-expect-error no such option
users.useVariant('public', ann, { validated: true })
// @ts-expect-error the name is taken
users.defineVariant('public', (user) => user)
// @ts-expect-error the schema says otherwise
serializer<User>().defineVariant('public', (user) => ({ id: String(user.id), name: user.name }), Public)
const shape = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } as const
serializer<User>().defineVariant('shape', (user) => ({ id: user.id, more: true }), shape)
serializer<User>().defineVariant('shape', async (user) => ({ id: user.id }), shape)
// @ts-expect-error the JSON Schema says otherwise
serializer<User>().defineVariant('shape', (user) => ({ id: user.name }), shape)
serializer<User>().defineVariant('box', (user) => ({ id: user.id }), Type.Object({ id: Type.Integer() }))
// @ts-expect-error the TypeBox schema says otherwise
serializer<User>().defineVariant('box', (user) => ({ name: user.name }), Type.Object({ id: Type.Integer() }))
// @ts-expect-error no schema
serializer<User>().defineVariant('text', (user) => user, 'object')
// @ts-expect-error nothing of that name in the data
serializer<User>().defineVariant('public', (user) => user.nope)
// @ts-expect-error no variant is defined
serializer<User>().useVariant('public', ann)
export { locale }
