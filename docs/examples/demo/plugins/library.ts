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
  /** Where the library is kept between two runs; in memory alone when left out. */
  file?: string
}

/** Gives every handler the library, loads it during boot and saves it when the server closes. */
export const library = definePlugin({
  name: 'library',
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
    // Far from any handler, and still with the id of the request that it happened in.
    library.listen(({ kind, book }) => {
      ctx.log.info({ reqId: currentContext()?.request, kind, book: book.id }, `"${book.title}" ${kind}`)
    })
  },
})
