import { type Request, router, type SseMessage } from 'framework'
import type { LibraryEvent } from '../library/library.ts'

router.get('/events', (req, res) => res.sse(eventsOf(req)))

/** Sends the events of the library until the client leaves or the server closes. */
async function* eventsOf(req: Pick<Request, 'library' | 'signal' | 'server'>): AsyncGenerator<SseMessage> {
  // A stream that never ends would hold up the closing of the server until its deadline.
  const end = AbortSignal.any([req.signal, req.server.closing])
  const waiting: LibraryEvent[] = []
  let wake = () => {}
  const stop = req.library.listen((event) => {
    waiting.push(event)
    wake()
  })
  end.addEventListener('abort', () => wake())
  try {
    yield { event: 'hello', data: { books: (await req.library.books()).length } }
    while (!end.aborted) {
      for (const event of waiting.splice(0)) yield { event: event.kind, data: event.book }
      await new Promise<void>((resolve) => {
        wake = resolve
        if (waiting.length > 0 || end.aborted) resolve()
      })
    }
  } finally {
    stop()
  }
}
