import type { CronPattern } from './pattern.ts'
import type { Zone } from './zone.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** The first of the values that is not below `from`. */
const atLeast = (values: readonly number[], from: number) => values.find((value) => value >= from)

function isDay(pattern: CronPattern, wall: Date): boolean {
  if (!pattern.months.has(wall.getUTCMonth() + 1)) return false
  const day = wall.getUTCDate()
  const weekday = wall.getUTCDay()
  const length = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate()
  const byDay = pattern.days.has(day) || (pattern.lastDay && day === length)
  const byWeekday = pattern.weekdays.has(weekday) || (pattern.lastWeekdays.has(weekday) && day > length - 7)
  // Where both are named, either is enough, as in POSIX.
  if (pattern.isAnyDay) return byWeekday || pattern.isAnyWeekday
  return pattern.isAnyWeekday ? byDay : byDay || byWeekday
}

/** The next time of a pattern after `after` on a clock without a zone; both are written as if they were UTC. */
function nextWall(pattern: CronPattern, after: number): number | undefined {
  const start = Math.floor(after / 1000) * 1000 + 1000
  let day = Math.floor(start / dayMs) * dayMs
  let from = start - day
  // The longest gap there can be: 29 February from 1896 to 1904, on a Monday at worst.
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

/** The first time of a pattern on a day, at or after `from` milliseconds of it. */
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
 * The next time of a pattern, strictly after an instant.
 *
 * A pattern that names its hours follows the clock on the wall, each time once: when clocks go forward, a time that is
 * left out comes later by the change; when they go back, the first of two counts. A pattern of every hour
 * follows elapsed time, so that «every ten minutes» stays that.
 */
export function nextTime(pattern: CronPattern, zone: Zone, after: number): number | undefined {
  return pattern.isEveryHour ? nextElapsed(pattern, zone, after) : nextOnTheWall(pattern, zone, after)
}

function nextOnTheWall(pattern: CronPattern, zone: Zone, after: number): number | undefined {
  const offset = zone.offset(after)
  // After a change forward, future times may be earlier on the wall.
  const moved = Math.max(0, offset - zone.offset(after - dayMs))
  let wall: number | undefined = after + offset - moved
  for (;;) {
    wall = nextWall(pattern, wall)
    if (wall === undefined) return undefined
    const time = zone.instant(wall)
    if (time > after) return time
  }
}

function nextElapsed(pattern: CronPattern, zone: Zone, after: number): number | undefined {
  let from = after
  for (let changes = 0; changes < 200; changes++) {
    const offset = zone.offset(from)
    const wall = nextWall(pattern, from + offset)
    if (wall === undefined) return undefined
    const time = wall - offset
    const change = zone.changeBetween(from, time)
    if (change === undefined) return time
    // The instant of the change belongs to the time after it.
    from = change - 1
    const offsetAfter = zone.offset(change)
    const first = nextWall(pattern, from + offsetAfter)
    if (first === undefined) return undefined
    if (zone.changeBetween(change, first - offsetAfter) === undefined) return first - offsetAfter
    from = change
  }
  return undefined
}

/** The last time of a pattern at or before `now`, where one at `due` is known. */
export function lastTime(pattern: CronPattern, zone: Zone, due: number, now: number): number {
  for (let back = 1000; ; back *= 2) {
    const reachesDue = now - back <= due
    let time = reachesDue ? due : (nextTime(pattern, zone, now - back) ?? due)
    if (time > now && !reachesDue) continue
    for (let next = nextTime(pattern, zone, time); next !== undefined && next <= now; ) {
      time = next
      next = nextTime(pattern, zone, time)
    }
    return time
  }
}
