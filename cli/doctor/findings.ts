import type { DoctorCheck, DoctorFinding, DoctorLevel } from '../../plugins/shared/doctor/check.ts'
import { printable } from '../printable.ts'
import type { Reported } from './view.ts'

export const levels: readonly DoctorLevel[] = ['error', 'warning', 'hint']

/** Findings, one for each code and each thing that they are about. */
export class Findings {
  readonly #found = new Map<string, Reported>()

  add({ code, level }: Pick<DoctorCheck, 'code' | 'level'>, found: DoctorFinding): void {
    const { problem, remedy, about = problem } = found
    const key = `${code}\0${about}`
    if (!this.#found.has(key))
      this.#found.set(key, {
        code,
        level: found.level ?? level,
        problem: printable(problem),
        remedy: printable(remedy),
      })
  }

  /** All findings by severity, those of the same severity in the order in which they were found. */
  get all(): Reported[] {
    return levels.flatMap((level) => [...this.#found.values()].filter((one) => one.level === level))
  }
}

/** Refuses a finding that would be shown without its texts or, with an unknown level, not at all. */
export function mustBeFinding(found: DoctorFinding | null): void {
  const { problem, remedy, level = 'error' } = found ?? ({} as DoctorFinding)
  if (typeof problem !== 'string' || typeof remedy !== 'string')
    throw new TypeError('a finding has the texts problem and remedy')
  if (!levels.includes(level)) throw new TypeError(`the level of a finding is one of ${levels.join(', ')}`)
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
