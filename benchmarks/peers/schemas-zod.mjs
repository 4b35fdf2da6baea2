// For those whose users validate with Zod.
import { z } from 'zod'

export const orderSchema = z.object({
  id: z.int(),
  customer: z.object({ name: z.string().min(1), email: z.email(), street: z.string(), city: z.string() }),
  lines: z.array(z.object({ sku: z.string(), title: z.string(), price: z.number(), quantity: z.int().min(1) })).min(1),
})
export const userParams = z.object({ id: z.coerce.number().int() })
export const userQuery = z.object({
  orders: z.coerce.number().int().min(0).max(10).default(3),
  locale: z.string().optional(),
})
