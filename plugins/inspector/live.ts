import { type SseMessage, systemClock } from '../../kernel/index.ts'
import type { Activity } from './activities.ts'
import { type Summary, summaryOf } from './views.ts'

/** How many changes may wait for a page. A page that lags further is dropped, and connects again. */
const maxWaiting = 1_000
const maxPages = 10
const keepAlive = 15_000
/** Milliseconds for which changes are collected. */
const pause = 100

class Page {
  readonly #onEnd: (page: Page) => void
  /** Only what lists show: a page that does not read must not keep dropped bodies in memory. */
  readonly #waiting = new Map<number, Summary>()
  #wake: (() => void) | undefined
  #isOver = false

  constructor(onEnd: (page: Page) => void) {
    this.#onEnd = onEnd
  }

  push(summary: Summary): void {
    this.#waiting.set(summary.id, summary)
    if (this.#waiting.size > maxWaiting) this.end()
    else this.#wake?.()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#waiting.clear()
    this.#onEnd(this)
    this.#wake?.()
  }

  async *events(): AsyncGenerator<SseMessage> {
    try {
      yield { event: 'hello', data: {}, retry: 1_000 }
      while (true) {
        if (this.#waiting.size === 0 && !this.#isOver) await this.#news(keepAlive)
        if (this.#waiting.size > 0)
          await new Promise<void>((resolve) => void systemClock.setTimeout(resolve, pause).unref())
        if (this.#isOver) return
        const changed = [...this.#waiting.values()]
        this.#waiting.clear()
        yield changed.length === 0 ? { event: 'still', data: {} } : { event: 'changed', data: changed }
      }
    } finally {
      this.end()
    }
  }

  #news(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = systemClock.setTimeout(resolve, ms)
      timer.unref()
      this.#wake = () => {
        systemClock.clear(timer)
        resolve()
      }
    })
  }
}

/** The open pages, each of which receives all changes. */
export class LivePages {
  readonly #pages = new Set<Page>()

  get size(): number {
    return this.#pages.size
  }

  open(): AsyncIterable<SseMessage> {
    const page = new Page((one) => this.#pages.delete(one))
    this.#pages.add(page)
    const [oldest] = this.#pages
    if (this.#pages.size > maxPages) oldest?.end()
    return page.events()
  }

  push(activity: Activity): void {
    if (this.#pages.size === 0) return
    const summary = summaryOf(activity)
    for (const page of this.#pages) page.push(summary)
  }

  endAll(): void {
    for (const page of this.#pages) page.end()
  }
}
