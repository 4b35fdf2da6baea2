import { definePlugin } from 'framework'
import { currentContext } from 'framework/plugins/requestContext'
import { Library } from '../library/library.ts'

declare module 'framework' {
  interface Services {
    library: Library
  }
  interface Request {
    /** The library of this server. */
    readonly library: Library
  }
}

/** Where the storage keeps the cover of a book. */
export const keyOfCover = (id: string) => `covers/${id}`

/** Gives every handler the library, whose tables it creates and fills during boot. */
export const library = definePlugin({
  name: 'library',
  dependencies: ['database', 'storage'],
  provide: () => ({ library: new Library() }),
  async setup(ctx) {
    const library = ctx.services.get('library')
    ctx.decorate('request', { library: { value: library } })
    // So that one variable is enough to try Postgres. In production, `framework migrate` runs before the new version starts.
    const databases = ctx.services.get('databases')
    await databases.migrate()
    await databases.seed()
    library.open(databases.client())
    const covers = ctx.services.get('storage')
    library.listen(({ kind, book }) => {
      if (kind !== 'removed') return
      covers.deleteObject(keyOfCover(book.id)).catch((error) => {
        ctx.log.warn({ err: error, book: book.id }, 'a cover could not be removed')
      })
    })
    // Far from any handler, and yet with the id of the request in which it happened.
    library.listen(({ kind, book }) => {
      ctx.log.info({ reqId: currentContext()?.request, kind, book: book.id }, `"${book.title}" ${kind}`)
    })
  },
})
