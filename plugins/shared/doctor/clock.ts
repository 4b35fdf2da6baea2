import type { DoctorFinding } from './check.ts'

/** A reading of another machine's clock. */
export interface ClockReading {
  /** Milliseconds by which the clock is ahead of this process. */
  readonly ahead: number
  /** The possible error of `ahead` in milliseconds. */
  readonly within: number
}

/** The tolerated difference in milliseconds: it does no harm to times in seconds. */
const tolerated = 1_000

export function readingOf(theirs: number, asked: number, received: number): ClockReading {
  return { ahead: theirs - (asked + received) / 2, within: (received - asked) / 2 }
}

export function clockFinding(where: string, { ahead, within }: ClockReading): DoctorFinding | undefined {
  if (Math.abs(ahead) <= tolerated + within) return undefined
  const seconds = (Math.abs(ahead) / 1000).toFixed(1)
  return {
    problem: `the clock of ${where} is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of this machine`,
    remedy: 'Synchronise both by NTP: delays, schedules and locks are compared between them',
    about: where,
  }
}
