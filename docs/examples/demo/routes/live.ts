import { router, type ServerSocket } from 'framework'
import type { Library } from '../library/library.ts'

const outgoing = {
  /** How many pages are open. */
  readers: { type: 'integer' },
  /** A book was lent or returned; a new connection first receives one message for each book that is lent. */
  loan: {
    type: 'object',
    properties: { book: { type: 'string' }, isLent: { type: 'boolean' } },
    required: ['book', 'isLent'],
  },
} as const

type Sent =
  | { readonly type: 'readers'; readonly data: number }
  | { readonly type: 'loan'; readonly data: { readonly book: string; readonly isLent: boolean } }
interface Reader {
  readonly library: Library
  stop(): void
}

const readers = new Set<ServerSocket<Reader, Sent>>()
const countReaders = () => {
  for (const one of readers) one.send({ type: 'readers', data: readers.size })
}

// What the page shows live: how many are reading, and which books are lent. Only pages of this host may open the connection.
router.ws(
  '/live',
  { outgoing },
  {
    data: (req): Reader => ({ library: req.library, stop: () => {} }),
    async open(socket) {
      const { library } = socket.data
      const stop = library.listen(({ kind, book }) => {
        if (kind === 'lent' || kind === 'returned')
          socket.send({ type: 'loan', data: { book: book.id, isLent: kind === 'lent' } })
      })
      socket.data = { library, stop }
      readers.add(socket)
      countReaders()
      for (const book of await library.lent()) socket.send({ type: 'loan', data: { book, isLent: true } })
    },
    close(socket) {
      socket.data.stop()
      readers.delete(socket)
      countReaders()
    },
  },
)
