import { fileURLToPath } from 'node:url'
import type { GraphqlOptions, Request } from 'framework'
import type { Book, Library } from '../library/library.ts'

type Context = { library: Library }

/** The books again, for clients that choose the fields they need. */
export const graphql = {
  schema: {
    files: fileURLToPath(new URL('*.graphql', import.meta.url)),
    resolvers: {
      Query: {
        books: (_: unknown, { author }: { author?: string }, { library }: Context) => library.books(author),
        book: (_: unknown, { id }: { id: string }, { library }: Context) => library.find(id),
      },
      Book: {
        others: async ({ id, author }: Book, _: object, { library }: Context) =>
          (await library.books(author)).filter((other) => other.id !== id),
      },
    },
  },
  // A short query can ask for the others of the others of all books.
  cost: { max: 500 },
  apolloOptions: { context: ({ req }: { req: Request }): Context => ({ library: req.library }) },
} satisfies GraphqlOptions
