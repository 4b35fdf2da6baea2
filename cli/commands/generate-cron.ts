import { quoted, refusal, wrongUsage } from '../failure.ts'
import { ownCommand } from '../run/own-command.ts'
import { namesOf } from '../scaffold/names.ts'
import { decoratorNotes, globOf } from '../scaffold/place.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'
import { identifier, literal, moduleAndTest } from '../scaffold/source.ts'

export const generateCron = ownCommand({
  details: `Writes src/crons/<name>.ts, which is loaded when the server listens, and a test that runs it on a simulated clock.`,
  arguments: [{ name: 'name', description: 'What the job does: cleanup, weekly-report', required: true }],
  flags: {
    pattern: {
      type: 'string',
      short: 'p',
      value: 'pattern',
      description: 'minute hour day month weekday',
      default: '0 3 * * *',
    },
    timezone: {
      type: 'string',
      value: 'zone',
      description: 'A zone of the IANA database: Europe/Rome (default: the zone of the process)',
    },
    class: { type: 'boolean', description: 'Writes a method of a class' },
    ...generateFlags,
  },
  async run(input) {
    const { kebab, camel, pascal } = namesOf(input.arguments.name, 'cron')
    const { class: asClass } = input.flags
    const pattern = await patternOf(input.flags.pattern)
    const timezone = zoneOf(input.flags.timezone)
    const values = {
      kebab,
      name: identifier(camel, 'Cron'),
      className: `${pascal}Cron`,
      asClass,
      pattern: literal(pattern),
      timezone: timezone && literal(timezone),
    }
    scaffold(input, 'crons', (place) => ({
      files: moduleAndTest(place, kebab, 'cron', values),
      packages: ['node-schedule'],
      next: [
        `In ${place.server}, unless it is there already; the files of the folder are loaded when the server listens:`,
        place.folder === 'src/crons'
          ? `  new Server({ plugins: { cron: true } })`
          : `  new Server({ plugins: { cron: { crons: ['${globOf(place)}'] } } })`,
        ...(asClass ? decoratorNotes(place) : []),
      ],
    }))
  },
})

/** Reads a pattern as the plugin does, which throws for an invalid one. */
async function patternOf(given: string): Promise<string> {
  const { cronJob } = await import('../../plugins/cron/index.ts')
  try {
    // A job that is declared but not started has only its pattern.
    cronJob(given).destroy()
    return given.trim()
  } catch (error) {
    throw refusal(error)
  }
}

function zoneOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  try {
    new Intl.DateTimeFormat('en', { timeZone: given })
    return given
  } catch (error) {
    throw wrongUsage(
      `--timezone takes a zone of the IANA database, for example Europe/Rome, not ${quoted(given)}`,
      error,
    )
  }
}
