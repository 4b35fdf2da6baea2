import { isProduction } from '../../plugins/shared/environment/node-env.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { findEntry, noServer } from '../application/load.ts'
import { printTable } from '../columns.ts'
import { diagnose } from '../doctor/diagnose.ts'
import type { Examination } from '../doctor/examine.ts'
import type { Reported } from '../doctor/view.ts'
import { CommandFailure } from '../failure.ts'
import { typedPath } from '../project/project.ts'
import { listOf, onOff, ownCommand, text } from '../run/own-command.ts'
import { keepOutputFromApplication } from '../run/standard-output.ts'

export const doctor = ownCommand({
  details: `Boots the application, without listening, and closes it again. Exit code 1 with an error, with --strict with a
warning too. What is only wrong in production is looked for with NODE_ENV=production or --production.`,
  flags: {
    ...applicationFlags,
    production: onOff('Looks at it as in production: sets NODE_ENV'),
    strict: onOff('Fails with a warning as with an error'),
    ignore: text('codes', 'Leaves these out, separated by commas'),
    network: onOff('Asks no Redis and no Postgres', { default: true }),
    json: onOff('As JSON'),
  },
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
      }
      return left.some(({ level }) => level === 'error' || (flags.strict && level === 'warning')) ? 1 : 0
    }
    keepOutputFromApplication()
    return diagnose({ entry, network: flags.network, seconds: flags.timeout, report, boot }, () =>
      applicationOf(flags, { mayListen: false }),
    )
  },
})

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
  return `${counts}${left}${production ? '' : '; --production looks for what is wrong there'}`
}
