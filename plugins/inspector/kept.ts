import { clock, systemClock } from '../../kernel/index.ts'
import { handover } from '../shared/environment/handover.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { safely } from '../shared/values/safely.ts'
import type { Activity } from './activities.ts'
import type { Recorder } from './recorder.ts'
import { httpOf } from './views.ts'

/** How many entries of each kind the next version receives, each with this many characters at most. */
const maxEntries = 50
const maxText = 32 * 1024
/** Milliseconds for which changes are collected, and for which the next version may need them. */
const pause = 200
const patience = 60 * 60_000

/**
 * Keeps the last entries for the next version of the application, redacted as on the page: in the memory of the development server, which
 * has the only place for them. Nothing is written to a disk. Returns the function that passes on the rest.
 */
export function keepForNext(recorder: Recorder): { changed(activity: Activity): void; end(): Promise<void> } {
  const store = handover()?.open('inspector', (entries) =>
    recorder.restore(entries.flatMap(([, text]) => safely(() => [JSON.parse(text) as Activity], []))),
  )
  if (store === undefined) return { changed() {}, async end() {} }
  const kept = new Map<string, Set<number>>()
  const waiting = new Map<string, Set<Activity>>()
  let timer: ReturnType<typeof systemClock.setTimeout> | undefined
  const flush = async () => {
    timer = undefined
    const last = [...waiting.values()].flatMap((all) => [...all].slice(-maxEntries))
    waiting.clear()
    for (const activity of last) {
      const captured = recorder.capturedOf(activity)
      const http = captured ? await httpOf(recorder, activity, captured) : recorder.restoredOf(activity)
      const text = [JSON.stringify({ ...activity, http }), JSON.stringify(activity)].find(
        ({ length }) => length <= maxText,
      )
      if (text === undefined) continue
      const ids = madeIn(kept, activity.kind, () => new Set())
      store.set(String(activity.id), text, clock.now() + patience)
      ids.add(activity.id)
      const [oldest] = ids
      if (ids.size > maxEntries && ids.delete(oldest!)) store.delete(String(oldest))
    }
  }
  recorder.activities.onClear = () => {
    for (const id of [...kept.values()].flatMap((ids) => [...ids])) store.delete(String(id))
    kept.clear()
    waiting.clear()
  }
  return {
    changed(activity) {
      madeIn(waiting, activity.kind, () => new Set()).add(activity)
      if (timer !== undefined) return
      timer = systemClock.setTimeout(() => void flush().catch(() => {}), pause)
      timer.unref()
    },
    async end() {
      if (timer !== undefined) systemClock.clear(timer)
      await flush().catch(() => {})
    },
  }
}
