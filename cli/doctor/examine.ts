import { within } from '../../kernel/support/within.ts'
import type { DoctorCheck, DoctorFinding, DoctorLevel } from '../../plugins/shared/doctor/check.ts'
import { PeerMissingError } from '../../plugins/shared/environment/optional-package.ts'
import { CommandFailure } from '../failure.ts'
import { printable } from '../printable.ts'
import { applicationChecks } from './application.ts'
import { imageChecks } from './image.ts'
import { packageChecks } from './packages.ts'
import { repositoryChecks } from './repository.ts'
import type { ProjectView, Reported } from './view.ts'

const levels: readonly DoctorLevel[] = ['error', 'warning', 'hint']

/** Findings, one for each code and each thing that they are about. */
class Findings {
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
  readonly #findings = new Findings()
  readonly #codes = new Set(Object.values(own).map(({ code }): string => code))
  readonly #failures: unknown[] = []
  /** The findings of the plugins' checks so far, in the order of the checks. */
  readonly #answers: ((findings: Findings) => void)[] = []
  /** Codes of errors that a finding of a check has already explained. */
  readonly #explained = new Set<string>()

  /** Runs the checks of the project; they are synchronous. */
  lookAtProject(view: ProjectView): void {
    for (const check of [...packageChecks, ...repositoryChecks, ...imageChecks, ...applicationChecks]) {
      this.#codes.add(check.code)
      if (!applies(check, view)) continue
      try {
        for (const one of listOf(check.find(view))) this.#findings.add(check, one)
      } catch (error) {
        addFailure(this.#findings, check, error)
      }
    }
  }

  /** Runs the checks of plugins; with `network`, also those that ask other machines. */
  async askPlugins(view: ProjectView, network: boolean): Promise<void> {
    const runnable = (await checksOf(view, this.#findings)).filter(([check]) => {
      this.#codes.add(check.code)
      return applies(check, view) && (network || check.network !== true)
    })
    // All at the same time: if several machines are silent, each would cost its seconds.
    const ask = async ([check, run]: Runnable, at: number) => {
      try {
        const found = listOf(await within(run(), patience, late))
        for (const one of found) mustBeFinding(one)
        if (found.length > 0 && check.explains !== undefined) this.#explained.add(check.explains)
        this.#answers[at] = (findings) => {
          for (const one of found) findings.add(check, one)
        }
      } catch (error) {
        this.#answers[at] = (findings) => addFailure(findings, check, error)
      }
    }
    await Promise.all(runnable.map(ask))
  }

  /** Called when the application has failed, which is a finding unless a check explains it. */
  fails(error: unknown): void {
    this.#failures.push(error)
  }

  get found(): readonly Reported[] {
    for (const add of this.#answers) add?.(this.#findings)
    for (const failure of this.#failures) addApplicationFailure(this.#findings, failure, this.#explained)
    return this.#findings.all
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

const listOf = (found: DoctorFinding | readonly DoctorFinding[] | undefined): readonly DoctorFinding[] =>
  found === undefined ? [] : [found].flat()

type Runnable = readonly [check: DoctorCheck, run: () => Promise<Awaited<ReturnType<DoctorCheck['find']>>>]

/** The checks of every registration; a check that cannot be used is a finding. */
async function checksOf({ server, booted }: ProjectView, findings: Findings): Promise<Runnable[]> {
  if (server === undefined) return []
  const { listing } = server
  const list = listing.plugins.map(async (plugin): Promise<Runnable[]> => {
    const { definition, settings, scope } = plugin
    try {
      const checks = (await within(Promise.resolve(definition.doctor?.()), patience, late)) ?? []
      if (!Array.isArray(checks)) throw new TypeError('doctor of a definition gives a list of checks')
      for (const check of checks) mustBeCheck(check)
      const input = { server, listing, plugin, settings, services: scope.services as never, booted }
      return checks.map((check) => [check, async () => check.find(input)])
    } catch (error) {
      const problem = `the checks of the plugin "${definition.name}" cannot be used: ${messageOf(error)}`
      findings.add(own.checkFailed, { problem, remedy: 'Report it to the author of the plugin' })
      return []
    }
  })
  return (await Promise.all(list)).flat()
}

function mustBeCheck(check: DoctorCheck | null): void {
  const { code, level, find } = check ?? ({} as DoctorCheck)
  if (typeof code !== 'string' || !/^\S+\.[\w-]+$/.test(code))
    throw new TypeError(`a check has the code ${JSON.stringify(code)}; it takes "<plugin>.<what-is-wrong>"`)
  if (!levels.includes(level)) throw new TypeError(`the level of ${code} is one of ${levels.join(', ')}`)
  if (typeof find !== 'function') throw new TypeError(`${code} has no function find`)
}

function addFailure(findings: Findings, check: Pick<DoctorCheck, 'code' | 'network'>, error: unknown): void {
  if (isMissing(error)) {
    addMissing(findings, error)
    return
  }
  const message = messageOf(error)
  if (check.network)
    findings.add(own.notAsked, {
      problem: `${check.code} could not ask: ${message}`,
      remedy: 'Run it where the application runs, or leave it out: --no-network',
      about: message,
    })
  else {
    // A check of the project can fail only because of a file of the user.
    const remedy = error instanceof CommandFailure ? 'Correct it' : 'Report it to its author'
    findings.add(own.checkFailed, { problem: `${check.code} failed: ${message}`, remedy })
  }
}

type Missing = Error & { readonly code: string; readonly names?: readonly string[] }

const isMissing = (error: unknown): error is Missing =>
  (error as { code?: unknown } | null)?.code === PeerMissingError.code

function addMissing(findings: Findings, { message, names = [] }: Missing): void {
  // The message ends with the line that installs the packages.
  const [, problem = message, remedy = 'Install it'] = /^(?:\w+: )?(.*?)\. (Add (?:it|them): .*)$/s.exec(message) ?? []
  findings.add(own.missing, { problem, remedy, about: [...names].sort().join() || problem })
}

/** Adds one finding for each failure of a boot that no check has explained. */
function addApplicationFailure(findings: Findings, failure: unknown, explained: ReadonlySet<string>): void {
  const several = (failure as { errors?: readonly unknown[] } | null)?.errors
  for (const one of several ?? [failure]) {
    const causes = causesOf(one)
    const missing = causes.find(isMissing)
    if (missing !== undefined) addMissing(findings, missing)
    else if (!causes.some((cause) => explained.has(String((cause as { code?: unknown }).code)))) {
      const problem = messageOf(one)
      findings.add(own.fails, {
        problem,
        remedy: 'Correct it, and run this again: some checks need a server that boots',
      })
    }
  }
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
    throw new TypeError('a finding has the texts problem and remedy')
  if (!levels.includes(level)) throw new TypeError(`the level of a finding is one of ${levels.join(', ')}`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error))
