import { systemClock, within } from '../../../kernel/index.ts'
import { PeerMissingError } from '../environment/optional-package.ts'
import type { DoctorFinding } from './check.ts'

/** The tolerated difference in milliseconds: it does no harm to times in seconds. */
const tolerated = 1_000

/** A reading of another machine's clock: the milliseconds by which it is ahead of this process, and the possible error of that. */
export function readingOf(theirs: number, asked: number, received: number) {
  return { ahead: theirs - (asked + received) / 2, within: (received - asked) / 2 }
}

export function clockFinding(
  where: string,
  { ahead, within }: ReturnType<typeof readingOf>,
): DoctorFinding | undefined {
  if (Math.abs(ahead) <= tolerated + within) return undefined
  const seconds = (Math.abs(ahead) / 1000).toFixed(1)
  return {
    problem: `the clock of ${where} is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of this machine`,
    remedy: 'Synchronise both by NTP: delays, schedules and locks are compared between them',
    about: where,
  }
}

/** Milliseconds to wait, fewer than the doctor waits for a check: the doctor could not name the machine. */
const patience = 4_000

/** Waits for the response of another machine; if it does not come, the error names the machine. */
export async function responseOf<Response>(where: string, asked: Promise<Response>): Promise<Response> {
  try {
    const late = () => {
      throw new Error(`no response within ${patience / 1000} s`)
    }
    return await within(asked, patience, late, systemClock)
  } catch (error) {
    const { code, message = String(error) } = Object(error) as { code?: unknown; message?: string }
    if (code === PeerMissingError.code) throw error
    // One finding for each machine, whichever of several time limits has ended first.
    throw Object.assign(new Error(`${where}: ${message || code}`, { cause: error }), { about: where })
  }
}
