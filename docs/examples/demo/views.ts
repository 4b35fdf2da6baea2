import { serializer } from 'framework'
import type { Book } from './library/library.ts'

/** A book as it appears in lists and on its own page. */
export const bookViews = serializer<Book>()
  .defineVariant('card', ({ id, title, author }) => ({ id, title, author }))
  .defineVariant('page', ({ id, title, author, available }) => ({ id, title, author, available }))
