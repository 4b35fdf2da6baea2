import { systemClock } from '../../kernel/index.ts'
import { EventStream } from '../shared/http/event-stream.ts'
import type { Activity } from './activities.ts'
import { type Summary, summaryOf } from './views.ts'

/** How many changes may wait for a page. A page that lags further is dropped, and connects again. */
const maxWaiting = 1_000
const maxPages = 10
const keepAlive = 15_000
/** Milliseconds for which changes are collected. */
const pause = 100

class Page {
  readonly stream: EventStream
  /** Only what lists show: a page that does not read must not keep dropped bodies in memory. */
  readonly #waiting = new Map<number, Summary>()
  #wake: (() => void) | undefined

  constructor(onEnd: (page: Page) => void) {
    const ended = () => {
      this.#waiting.clear()
      onEnd(this)
    }
    this.stream = new EventStream('event: hello\nretry: 1000\ndata: {}\n\n', keepAlive, ended, () => this.#next())
  }

  push(summary: Summary): void {
    this.#waiting.set(summary.id, summary)
    if (this.#waiting.size > maxWaiting) this.stream.end()
    else this.#wake?.()
  }

  /** Sends the next changes, as soon as there are any. */
  async #next(): Promise<void> {
    if (this.#waiting.size === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    await new Promise<void>((resolve) => void systemClock.setTimeout(resolve, pause).unref())
    const changed = [...this.#waiting.values()]
    this.#waiting.clear()
    this.stream.write(`event: changed\ndata: ${JSON.stringify(changed)}\n\n`)
  }
}

/** The open pages, each of which receives all changes. */
export class LivePages {
  readonly #pages = new Set<Page>()

  get size(): number {
    return this.#pages.size
  }

  open(): EventStream {
    const page = new Page((one) => this.#pages.delete(one))
    this.#pages.add(page)
    const [oldest] = this.#pages
    if (this.#pages.size > maxPages) oldest?.stream.end()
    return page.stream
  }

  push(activity: Activity): void {
    if (this.#pages.size === 0) return
    const summary = summaryOf(activity)
    for (const page of this.#pages) page.push(summary)
  }

  endAll(): void {
    for (const page of this.#pages) page.stream.end()
  }
}
