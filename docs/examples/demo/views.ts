import { serializer } from 'framework'
import type { Book } from './library/library.ts'

/** A book as lists and as its own page show it. */
export const bookViews = serializer<Book>()
  .defineVariant('card', ({ id, title, author }) => ({ id, title, author }))
  .defineVariant('page', (book, lent: boolean) => ({ ...book, available: !lent }))
