import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Kernel } from '../../kernel/index.ts'
import { within } from '../../kernel/support/within.ts'
import type { CommandInput } from '../../plugins/shared/development/command-definition.ts'
import { isProduction } from '../../plugins/shared/environment/node-env.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { watchLostErrors, withLostErrors } from '../application/guard.ts'
import { findEntry, noServer } from '../application/load.ts'
import { printTable } from '../columns.ts'
import { Examination } from '../doctor/examine.ts'
import type { ProjectView, Reported } from '../doctor/view.ts'
import { CommandFailure } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { listOf, onOff, ownCommand, text } from '../run/own-command.ts'
import { keepOutputFromApplication } from '../run/standard-output.ts'
import { describeFailure } from '../typescript/failure.ts'

const doctorFlags = {
  ...applicationFlags,
  production: onOff('Sets NODE_ENV to production before it imports the application'),
  strict: onOff('Also fails if there is a warning'),
  ignore: text('codes', 'Leaves out findings with these codes, separated by commas'),
  network: onOff('Does not connect to Redis or Postgres', { default: true }),
  json: onOff('Prints JSON'),
} as const

export const doctor = ownCommand({
  details: `Boots the application without listening, and closes it again. The exit code is 1 if there is an error or, with --strict,
a warning. To find what is wrong only in production, set NODE_ENV=production or pass --production.`,
  flags: doctorFlags,
  async run({ flags, print, note, boot }) {
    if (flags.production) process.env.NODE_ENV = 'production'
    const entry = flags.entry ? typedPath(flags.entry) : findEntry()
    if (entry === undefined) throw new CommandFailure(`${noServer()}. Name the module that exports it: --entry <file>`)
    const report = ({ found, codes }: Examination) => {
      const ignored = listOf(flags.ignore)
      for (const code of ignored)
        if (!codes.has(code)) note(`--ignore: no check of this application has the code ${code}`)
      const left = found.filter(({ code }) => !ignored.includes(code))
      const production = isProduction()
      if (flags.json) print(JSON.stringify({ production, findings: left }, undefined, 2))
      else {
        printTable(left.map(rowOf), print)
        note(summaryOf(left, found.length - left.length, production))
        if (left.length > 0) note(`Explained by: npm run framework -- docs ${left[0]!.code}`)
      }
      return left.some(({ level }) => level === 'error' || (flags.strict && level === 'warning')) ? 1 : 0
    }
    keepOutputFromApplication()
    return diagnose(entry, { flags, boot }, report)
  },
})

/**
 * Imports, boots, examines and closes an application, and reports its problems. Whatever the application does, there is a report: if it
 * ends the process, one with the findings so far.
 */
async function diagnose(
  entry: string,
  { flags, boot }: Pick<CommandInput<{ readonly flags: typeof doctorFlags }>, 'flags' | 'boot'>,
  report: (examination: Examination) => number,
): Promise<number> {
  const examination = new Examination()
  const view = { folder: process.cwd(), file: resolve(entry), server: undefined as Kernel | undefined, booted: false }
  // Determined late: importing the application may have read NODE_ENV from a file.
  const now = (): ProjectView => ({ ...view, production: isProduction() })
  let work: 'imported' | 'booted' | 'examined' | 'closed' = 'imported'

  const onExit = (code: number) => {
    // A close hook is allowed to end the process.
    if (work !== 'closed')
      examination.fails(new CommandFailure(`${entry} ended the process with code ${code} while it was ${work}`))
    // Nothing can be awaited any more.
    if (work === 'imported' || work === 'booted') examination.lookAtProject(now())
    process.exitCode = report(examination)
  }
  process.once('exit', onExit)
  // The same words whether it is thrown before or after the end of the boot, which a timer of the application cannot know.
  const lost = (error: unknown) => new CommandFailure(`nothing catches an error: ${describeFailure(error)}`)
  const stop = watchLostErrors((error) => examination.fails(lost(error)))
  try {
    try {
      view.server = (await applicationOf(flags, { mayListen: false })).server
      work = 'booted'
      const late = () => {
        throw new CommandFailure(`${entry} has not booted after ${flags.timeout} s: a hook has not finished`)
      }
      await withLostErrors(() => within(boot(view.server!), flags.timeout * 1_000, late), lost)
      view.booted = true
    } catch (error) {
      // A typing mistake is not a fault of the application.
      if (error instanceof CommandFailure && (error.exitCode === 2 || !existsSync(entry))) throw error
      examination.fails(error)
    }
    work = 'examined'
    examination.lookAtProject(now())
    await examination.askPlugins(now(), flags.network)
    work = 'closed'
    if (view.booted) await view.server?.close().catch((error: unknown) => examination.fails(error))
    return report(examination)
  } finally {
    stop()
    process.off('exit', onExit)
  }
}

const rowOf = ({ level, code, problem, remedy }: Reported) => [
  level,
  code,
  `${problem}. ${remedy}`.replace(/\s*\n\s*/g, ' '),
]

function summaryOf(found: readonly Reported[], ignored: number, production: boolean): string {
  const count = (level: string) => {
    const { length } = found.filter((one) => one.level === level)
    return length === 0 ? [] : [`${length} ${level}${length === 1 ? '' : 's'}`]
  }
  const counts = ['error', 'warning', 'hint'].flatMap(count).join(', ') || 'nothing found'
  const left = ignored === 0 ? '' : `, ${ignored} ignored`
  return `${counts}${left}${production ? '' : '; add --production to check for production'}`
}
