import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { HttpError, RouteCollection, Server, type SseMessage } from 'framework'
import { z } from 'zod'

/** A language model: yields the pieces of its answer. Any SDK that streams has this form. */
export type Model = (prompt: string, signal: AbortSignal) => AsyncIterable<string>

/** An answer that is being written. It goes on while no client reads it, so that one that comes back misses nothing. */
class Answer extends EventEmitter {
  readonly pieces: string[] = []
  state: 'running' | 'done' | 'failed' = 'running'

  async run(pieces: AsyncIterable<string>) {
    try {
      for await (const piece of pieces) {
        this.pieces.push(piece)
        this.emit('change')
      }
      this.state = 'done'
    } catch {
      this.state = 'failed'
    }
    this.emit('change')
  }

  /** Yields the pieces from a position on, with their positions as ids. */
  async *from(position: number, signal: AbortSignal): AsyncGenerator<SseMessage> {
    for (let next = position; ; ) {
      while (next < this.pieces.length) yield { event: 'piece', data: { text: this.pieces[next] }, id: String(++next) }
      if (this.state !== 'running') return yield { event: this.state, data: {} }
      await once(this, 'change', { signal })
    }
  }
}

export function makeServer(model: Model) {
  // In one process. With several, keep the pieces in Redis, or use a channel with a history.
  const answers = new Map<string, Answer>()
  const routes = new RouteCollection()

  routes.post('/answers', { body: z.object({ prompt: z.string().min(1).max(4000) }) }, (req, res) => {
    const [id, answer] = [randomUUID(), new Answer()]
    answers.set(id, answer)
    void answer.run(model(req.body.prompt, req.server.closing)).then(() => {
      setTimeout(() => answers.delete(id), 5 * 60_000).unref()
    })
    return res.accepted({ id })
  })

  // A browser reconnects by itself with `Last-Event-ID`, and goes on where it was.
  routes.get('/answers/:id', { timeout: false }, (req, res) => {
    const answer = answers.get(req.params.id)
    if (answer === undefined) throw new HttpError(404, { code: 'AnswerGoneError' })
    const position = Number(req.headers['last-event-id'] ?? 0)
    const signal = AbortSignal.any([req.signal, req.server.closing])
    return res.sse(answer.from(Number.isSafeInteger(position) && position > 0 ? position : 0, signal))
  })

  return new Server({ router: routes, plugins: { timeout: true, rateLimit: { limit: 60 } } })
}
