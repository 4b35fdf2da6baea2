import { madeIn } from '../values/memoize.ts'

/** A time zone as the difference between its clocks and UTC. */
export interface Zone {
  /** Milliseconds by which clocks in the zone are ahead of UTC at an instant. */
  offset(instant: number): number
  /** The first instant at which clocks in the zone show a time; if they skip it, the instant is later by the size of the change. */
  instant(wall: number): number
}

const dayMs = 86_400_000

function zoneOf(offset: (instant: number) => number): Zone {
  const instant = (wall: number) => {
    const before = offset(wall - dayMs)
    const fitting = [wall - before, wall - offset(wall + dayMs)].filter((one) => one + offset(one) === wall)
    return fitting.length === 0 ? wall - before : Math.min(...fitting)
  }
  return { offset, instant }
}

const zones = new Map<string, Zone>()

/**
 * Returns a zone by its name in the IANA database; without a name, the zone of the process.
 *
 * @throws RangeError for a name that the runtime does not know.
 */
export function zoneByName(name: string | undefined): Zone {
  // Read each time: `TZ` may change while a process runs, at least in tests.
  if (name === undefined) return zoneOf((instant) => -new Date(instant).getTimezoneOffset() * 60_000)
  return madeIn(zones, name, () => {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
    // The zone of most servers: its offset need not be read from the parts of a time, which takes 5 µs.
    if (format.resolvedOptions().timeZone === 'UTC') return zoneOf(() => 0)
    return zoneOf((instant) => {
      const whole = Math.floor(instant / 1000) * 1000
      const part: Record<string, number> = {}
      for (const { type, value } of format.formatToParts(whole)) part[type] = Number(value)
      return Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute, part.second) - whole
    })
  })
}
