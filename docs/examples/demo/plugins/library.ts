import { definePlugin } from 'framework'
import { currentContext } from 'framework/plugins/requestContext'
import { Library } from '../library/library.ts'
import { seed } from '../library/seed.ts'
import { FileStore } from '../library/store.ts'

declare module 'framework' {
  interface Services {
    library: Library
  }
  interface Request {
    /** The library of this server. */
    readonly library: Library
  }
}

export interface LibraryOptions {
  /** The file in which the library is kept between two runs; without it, the library is only in memory. */
  file?: string
}

/** Where the storage keeps the cover of a book. */
export const keyOfCover = (id: string) => `covers/${id}`

/** Gives every handler the library, loads it during boot and saves it when the server closes. */
export const library = definePlugin({
  name: 'library',
  dependencies: ['storage'],
  provide: (_options: LibraryOptions = {}) => ({ library: new Library() }),
  async setup(ctx, options: LibraryOptions = {}) {
    const library = ctx.services.get('library')
    ctx.decorate('request', { library: { value: library } })
    const { file } = options
    if (file !== undefined) {
      const store = new FileStore(file)
      library.open(await store.load())
      ctx.onClose(() => store.save(library.shelf))
    }
    seed(library)
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
