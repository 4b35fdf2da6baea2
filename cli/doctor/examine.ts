import { within } from '../../kernel/support/within.ts'
import type { DoctorCheck, DoctorFinding, DoctorLevel } from '../../plugins/shared/doctor/check.ts'
import { PeerMissingError } from '../../plugins/shared/environment/optional-package.ts'
import { CommandFailure } from '../failure.ts'
import { printable } from '../printable.ts'
import { applicationChecks } from './application.ts'
import { packageChecks } from './packages.ts'
import { repositoryChecks } from './repository.ts'
import type { ProjectView, Reported } from './view.ts'

const levels: readonly DoctorLevel[] = ['error', 'warning', 'hint']

/** A finding, and the check that it is from. */
type Found = readonly [check: Pick<DoctorCheck, 'code' | 'level'>, finding: DoctorFinding]

/** Findings of the command itself. */
const own = {
  fails: { code: 'application.fails', level: 'error' },
  missing: { code: 'package.missing', level: 'error' },
  checkFailed: { code: 'doctor.check-failed', level: 'warning' },
  notAsked: { code: 'doctor.not-asked', level: 'hint' },
} as const

/** Milliseconds for one check: even one that does not use the network may wait for a promise that never settles. */
const patience = 5_000

/** The findings so far: an application may end the process at any time. */
export class Examination {
  readonly #found: Found[] = []
  readonly #codes = new Set(Object.values(own).map(({ code }): string => code))
  readonly #failures: unknown[] = []
  /** The findings of the plugins' checks so far, in the order of the checks. */
  readonly #results: (readonly Found[])[] = []
  /** Codes of errors that a finding of a check has already explained. */
  readonly #explained = new Set<string>()

  /** Runs the checks of the project; they are synchronous. */
  lookAtProject(view: ProjectView): void {
    for (const check of [...packageChecks, ...repositoryChecks, ...applicationChecks]) {
      this.#codes.add(check.code)
      if (!applies(check, view)) continue
      try {
        this.#found.push(...listOf(check, check.find(view)))
      } catch (error) {
        this.#found.push(failureOf(check, error))
      }
    }
  }

  /** Runs the checks of plugins; with `network`, also those that ask other machines. */
  async askPlugins(view: ProjectView, network: boolean): Promise<void> {
    const runnable = (await checksOf(view, this.#found)).filter(([check]) => {
      this.#codes.add(check.code)
      return applies(check, view) && (network || check.network !== true)
    })
    // All at the same time: if several machines are silent, each would cost its seconds.
    const ask = async ([check, run]: Runnable, at: number) => {
      try {
        const found = listOf(check, await within(run(), patience, late))
        for (const [, one] of found) mustBeFinding(one)
        if (found.length > 0 && check.explains !== undefined) this.#explained.add(check.explains)
        this.#results[at] = found
      } catch (error) {
        this.#results[at] = [failureOf(check, error)]
      }
    }
    await Promise.all(runnable.map(ask))
  }

  /** Called when the application has failed, which is a finding unless a check explains it. */
  fails(error: unknown): void {
    this.#failures.push(error)
  }

  /** One finding for each code and each thing that it is about, by severity; those of the same severity in the order in which they were found. */
  get found(): readonly Reported[] {
    const found = new Map<string, Reported>()
    const failures = this.#failures.flatMap((one) => failuresOf(one, this.#explained))
    for (const [{ code, level: usual }, finding] of [...this.#found, ...this.#results.flat(), ...failures]) {
      const { problem, remedy, about = problem, level = usual } = finding
      const key = `${code}\0${about}`
      if (found.has(key)) continue
      found.set(key, { code, level, problem: printable(problem), remedy: printable(remedy) })
    }
    return levels.flatMap((level) => [...found.values()].filter((one) => one.level === level))
  }

  /** The codes of all checks. */
  get codes(): ReadonlySet<string> {
    return this.#codes
  }
}

const applies = ({ production }: Pick<DoctorCheck, 'production'>, view: ProjectView) =>
  view.production || production !== true

const late = () => {
  throw new Error(`no response within ${patience / 1000} s`)
}

const listOf = (check: Found[0], found: DoctorFinding | readonly DoctorFinding[] | undefined): readonly Found[] =>
  found === undefined ? [] : [found].flat().map((one) => [check, one])

type Runnable = readonly [check: DoctorCheck, run: () => Promise<Awaited<ReturnType<DoctorCheck['find']>>>]

/** The checks of every registration; a check that cannot be used is a finding. */
async function checksOf({ server, booted }: ProjectView, found: Found[]): Promise<Runnable[]> {
  if (server === undefined) return []
  const { listing } = server
  const list = listing.plugins.map(async (plugin): Promise<Runnable[]> => {
    const { definition, settings, scope } = plugin
    try {
      const checks = (await within(Promise.resolve(definition.doctor?.()), patience, late)) ?? []
      if (!Array.isArray(checks)) throw new TypeError('doctor of a definition must return a list of checks')
      for (const check of checks) mustBeCheck(check)
      const input = { server, listing, plugin, settings, services: scope.services as never, booted }
      return checks.map((check) => [check, async () => check.find(input)])
    } catch (error) {
      const problem = `the checks of the plugin "${definition.name}" cannot be used: ${messageOf(error)}`
      found.push([own.checkFailed, { problem, remedy: 'Report it to the author of the plugin' }])
      return []
    }
  })
  return (await Promise.all(list)).flat()
}

function mustBeCheck(check: DoctorCheck | null): void {
  const { code, level, find } = check ?? ({} as DoctorCheck)
  if (typeof code !== 'string' || !/^\S+\.[\w-]+$/.test(code))
    throw new TypeError(`a check has the code ${JSON.stringify(code)}; it takes "<plugin>.<what-is-wrong>"`)
  if (!levels.includes(level)) throw new TypeError(`the level of ${code} must be one of ${levels.join(', ')}`)
  if (typeof find !== 'function') throw new TypeError(`${code} has no function find`)
}

function failureOf(check: Pick<DoctorCheck, 'code' | 'network'>, error: unknown): Found {
  if (isMissing(error)) return missingOf(error)
  const message = messageOf(error)
  if (check.network) {
    const remedy = 'Run it where the application runs, or leave it out: --no-network'
    const { about = message } = Object(error) as { about?: string }
    return [own.notAsked, { problem: `${check.code} could not be checked: ${message}`, remedy, about }]
  }
  // A check of the project can fail only because of a file of the user.
  const remedy = error instanceof CommandFailure ? 'Correct it' : 'Report it to its author'
  return [own.checkFailed, { problem: `${check.code} failed: ${message}`, remedy }]
}

type Missing = Error & { readonly code: string; readonly names?: readonly string[] }

const isMissing = (error: unknown): error is Missing =>
  (error as { code?: unknown } | null)?.code === PeerMissingError.code

function missingOf({ message, names = [] }: Missing): Found {
  // The message ends with the line that installs the packages.
  const [, problem = message, remedy = 'Install it'] = /^(.*?)\. (Add (?:it|them): .*)$/s.exec(message) ?? []
  return [own.missing, { problem, remedy, about: [...names].sort().join() || problem }]
}

/** A finding for each failure of a boot that no check has explained. */
function failuresOf(failure: unknown, explained: ReadonlySet<string>): Found[] {
  const several = (failure as { errors?: readonly unknown[] } | null)?.errors
  return (several ?? [failure]).flatMap((one): Found[] => {
    const causes = causesOf(one)
    const missing = causes.find(isMissing)
    if (missing !== undefined) return [missingOf(missing)]
    if (causes.some((cause) => explained.has(String((cause as { code?: unknown }).code)))) return []
    const remedy = 'Correct it, and run this again: some checks need a server that boots'
    return [[own.fails, { problem: messageOf(one), remedy }]]
  })
}

/** An error and its causes, each once: an error may be its own cause. */
function causesOf(error: unknown): object[] {
  const causes = new Set<object>()
  for (let one = error; typeof one === 'object' && one !== null && !causes.has(one); one = (one as Error).cause)
    causes.add(one)
  return [...causes]
}

/** Refuses a finding that would be shown without its texts or, with an unknown level, not at all. */
function mustBeFinding(found: DoctorFinding | null): void {
  const { problem, remedy, level = 'error' } = found ?? ({} as DoctorFinding)
  if (typeof problem !== 'string' || typeof remedy !== 'string')
    throw new TypeError('a finding must have the strings problem and remedy')
  if (!levels.includes(level)) throw new TypeError(`the level of a finding must be one of ${levels.join(', ')}`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error))
