import type { CronPattern } from './pattern.ts'
import type { Zone } from './zone.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** A clock set back further than this was wrong before. After a smaller correction, ticks that have run do not run again. */
export const correctionMs = 3 * hourMs

/** Returns the first of the values that is not less than `from`. */
const atLeast = (values: readonly number[], from: number) => values.find((value) => value >= from)

/** Whether a day of a month of the pattern is one of its days. */
function isDay(pattern: CronPattern, wall: Date): boolean {
  const day = wall.getUTCDate()
  const weekday = wall.getUTCDay()
  const length = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate()
  const byDay = pattern.days.has(day) || (pattern.lastDay && day === length)
  const byWeekday = pattern.weekdays.has(weekday) || (pattern.lastWeekdays.has(weekday) && day > length - 7)
  // If a pattern names both, either is enough, as in POSIX.
  if (pattern.isAnyDay) return byWeekday || pattern.isAnyWeekday
  return pattern.isAnyWeekday ? byDay : byDay || byWeekday
}

/** Returns the next time of a pattern after `after` on a clock without a zone; both times are expressed as if they were UTC. */
function nextWall(pattern: CronPattern, after: number): number | undefined {
  const start = Math.floor(after / 1000) * 1000 + 1000
  let day = Math.floor(start / dayMs) * dayMs
  let from = start - day
  // The longest possible gap: 29 February from 1896 to 1904, at worst only on a certain weekday, such as Monday.
  for (const end = day + 41 * 366 * dayMs; day < end; day += dayMs, from = 0) {
    const wall = new Date(day)
    if (!pattern.months.has(wall.getUTCMonth() + 1)) {
      day = Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)
      continue
    }
    if (!isDay(pattern, wall)) continue
    const time = timeOfDay(pattern, from)
    if (time !== undefined) return day + time
  }
  return undefined
}

/** Returns the first time of a pattern on a day, `from` milliseconds after its beginning or later. */
function timeOfDay({ hours, minutes, seconds }: CronPattern, from: number): number | undefined {
  for (const hour of hours) {
    const begin = hour * hourMs
    if (begin + hourMs <= from) continue
    const firstMinute = begin < from ? Math.floor((from - begin) / minuteMs) : 0
    for (let minute = atLeast(minutes, firstMinute); minute !== undefined; minute = atLeast(minutes, minute + 1)) {
      const at = begin + minute * minuteMs
      const second = atLeast(seconds, at < from ? Math.ceil((from - at) / 1000) : 0)
      if (second !== undefined) return at + second * 1000
    }
  }
  return undefined
}

/**
 * Returns the next time of a pattern, strictly after an instant.
 *
 * A pattern that names its hours follows the wall clock, with each time once: when clocks go forward, a skipped time comes later by
 * the size of the change; when they go back, only the first of two equal times counts. A pattern for every hour follows elapsed
 * time, so that «every ten minutes» remains every ten minutes.
 */
export function nextTime(pattern: CronPattern, zone: Zone, after: number): number | undefined {
  return pattern.isEveryHour ? nextElapsed(pattern, zone, after) : nextOnTheWall(pattern, zone, after)
}

function nextOnTheWall(pattern: CronPattern, zone: Zone, after: number): number | undefined {
  const offset = zone.offset(after)
  // After clocks have gone forward, a skipped time that is still to come may be earlier on the wall clock.
  const moved = Math.max(0, offset - zone.offset(after - dayMs))
  let next: number | undefined
  for (let wall = nextWall(pattern, after + offset - moved); wall !== undefined; wall = nextWall(pattern, wall)) {
    const time = zone.instant(wall)
    if (time > after) {
      next = Math.min(next ?? time, time)
      // A time that exists; a skipped one may come after others that the clock shows later: 02:10 at 02:40, after 02:35.
      if (time + zone.offset(time) === wall) break
      wall = Math.max(wall, after + offset)
    }
  }
  return next
}

/** Looks for the time with each difference to UTC that applies near it, and takes the first to which its own difference applies. */
function nextElapsed(pattern: CronPattern, zone: Zone, after: number): number | undefined {
  for (let from = after; ; ) {
    const timeWith = (offset: number) => (nextWall(pattern, from + offset) ?? Number.POSITIVE_INFINITY) - offset
    const usual = timeWith(zone.offset(from))
    if (usual === Number.POSITIVE_INFINITY) return undefined
    const offsets = [from, from + dayMs, usual - dayMs, usual, usual + dayMs].map(zone.offset)
    const times = [...new Set(offsets)].map((offset) => ({ offset, time: timeWith(offset) }))
    const fitting = times.filter(({ offset, time }) => time < Number.POSITIVE_INFINITY && zone.offset(time) === offset)
    const first = Math.min(...(fitting.length > 0 ? fitting : times).map(({ time }) => time))
    if (fitting.length > 0) return first
    from = first
  }
}

/** Returns the last time of a pattern at or before `now`, given that `due` is such a time. */
export function lastTime(pattern: CronPattern, zone: Zone, due: number, now: number): number {
  // Ticks are a second apart, at least, and nearly all are served within one.
  if (now - due < 1000) return due
  const following = (time: number) => nextTime(pattern, zone, time) ?? Number.POSITIVE_INFINITY
  for (let back = 1000; ; back *= 2) {
    const from = Math.max(due, now - back)
    let last = from === due ? due : undefined
    for (let time = following(from); time <= now; time = following(time)) last = time
    if (last !== undefined) return last
  }
}
