import { clock, systemClock } from '../../kernel/index.ts'
import { handover } from '../shared/environment/handover.ts'
import { isObject } from '../shared/values/json.ts'
import { madeIn } from '../shared/values/memoize.ts'
import { safely } from '../shared/values/safely.ts'
import { type Activity, firstForeignId } from './activities.ts'
import type { Recorder } from './recorder.ts'
import { httpOf } from './views.ts'

/** How many entries of each kind, and how many that failed, the next version receives, each with this many characters at most. */
const maxEntries = 50
const maxText = 16 * 1024
/** Milliseconds for which changes are collected, and for which the next version may need them. */
const pause = 200
const patience = 60 * 60_000

/** What failed is not displaced by what did not. */
const groupOf = ({ kind, outcome }: Activity) => `${kind} ${outcome === 'failed'}`

/** Another version of the framework may have kept something else. */
const isActivity = (one: unknown): one is Activity =>
  isObject(one) &&
  Number.isSafeInteger(one.id) &&
  [one.kind, one.title, one.trace, one.note, one.outcome].every((text) => typeof text === 'string') &&
  typeof one.at === 'number' &&
  Array.isArray(one.marks) &&
  isObject(one.data)

const readEntries = (texts: readonly unknown[]) =>
  texts.flatMap((text) => safely(() => [JSON.parse(String(text)) as unknown], [])).filter(isActivity)

/** Returns what another process has done. Its ids are moved out of the way of those of this process. */
export function entryOf(pid: number, text: unknown): Activity[] {
  const offset = ((pid % 2 ** 20) + 1) * firstForeignId
  return readEntries([text])
    .filter(({ id, outcome }) => Number.isSafeInteger(pid) && pid > 0 && id < firstForeignId && outcome !== 'running')
    .map(({ parent, ...one }) => ({
      ...one,
      id: one.id + offset,
      parent: parent && parent + offset,
      data: { ...one.data, process: pid },
    }))
}

/**
 * Keeps the last entries for the next version of the application, redacted as on the page: in the memory of the development server, which
 * has the only place for them. Nothing is written to a disk. Returns the function that passes on the rest.
 */
export function keepForNext(recorder: Recorder): { changed(activity: Activity): void; end(): Promise<void> } {
  const kept = new Map<string, Set<number>>()
  const store = handover()?.open('inspector', (entries) => {
    const restored = readEntries(entries.map(([, text]) => text))
    // They count as entries of this version, which displaces them: otherwise each restart would keep more.
    for (const one of restored) madeIn(kept, groupOf(one), () => new Set()).add(one.id)
    recorder.restore(restored)
  })
  if (store === undefined) return { changed() {}, async end() {} }
  const waiting = new Set<Activity>()
  let timer: ReturnType<typeof systemClock.setTimeout> | undefined
  const flush = async () => {
    timer = undefined
    const groups = new Map<string, Activity[]>()
    for (const activity of waiting) madeIn(groups, groupOf(activity), () => []).push(activity)
    const last = [...groups.values()].flatMap((all) => all.slice(-maxEntries))
    waiting.clear()
    for (const activity of last) {
      const captured = recorder.capturedOf(activity)
      const http = captured ? await httpOf(recorder, activity, captured) : recorder.restored.get(activity)
      // What failed is missed most, and its message may be long.
      const text = [{ ...activity, http }, activity, { ...activity, data: { cut: true } }]
        .map((one) => JSON.stringify(one))
        .find(({ length }) => length <= maxText)
      // Cleared or dropped in the meantime.
      if (text === undefined || recorder.activities.find(activity.id) !== activity) continue
      for (const ids of kept.values()) ids.delete(activity.id)
      const ids = madeIn(kept, groupOf(activity), () => new Set())
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
      waiting.add(activity)
      if (timer !== undefined) return
      timer = systemClock.setTimeout(() => void flush().catch(() => {}), pause)
      timer.unref()
    },
    async end() {
      if (timer !== undefined) systemClock.clear(timer)
      await flush().catch(() => {})
      await store.sent?.()
    },
  }
}
