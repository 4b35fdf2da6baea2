import { defineContract } from 'framework/contract'
import { z } from 'zod'

// packages/contract: imports nothing of the server, so that pages may load it.
export const Book = z.object({ id: z.string(), title: z.string() })

export const shop = defineContract({
  listBooks: { method: 'GET', path: '/books', responses: { 200: z.array(Book) } },
  addBook: {
    method: 'POST',
    path: '/books',
    body: z.object({ title: z.string().min(1) }),
    responses: { 201: Book },
  },
})
