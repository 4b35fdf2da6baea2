import { type Request, router, type SseMessage } from 'framework'
import type { LibraryEvent } from '../library/library.ts'

const beatMs = 1000

router.get('/events', (req, res) => res.sse(eventsOf(req)))

/** Tells what happens in the library until the client leaves or the server closes. */
async function* eventsOf(req: Pick<Request, 'library' | 'signal' | 'server'>): AsyncGenerator<SseMessage> {
  const waiting: LibraryEvent[] = []
  let wake = () => {}
  const stop = req.library.listen((event) => {
    waiting.push(event)
    wake()
  })
  try {
    yield { event: 'hello', data: { books: req.library.books().length } }
    // A stream that never ends would hold up the closing of the server until its deadline.
    while (!req.signal.aborted && !req.server.isClosing) {
      for (const event of waiting.splice(0)) yield { event: event.kind, data: event.book }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, beatMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    stop()
  }
}
