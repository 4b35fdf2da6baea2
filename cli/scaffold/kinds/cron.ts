import type { Names } from '../names.ts'
import { decoratorNotes, globOf, type Place } from '../place.ts'
import type { Scaffold } from '../scaffold.ts'
import { identifier, literal, moduleAndTest } from '../source.ts'

export interface CronSettings {
  readonly pattern: string
  readonly timezone: string | undefined
  /** Whether it is a method of a class. */
  readonly asClass: boolean
}

/** A scheduled job. */
export function cron(place: Place, { kebab, camel, pascal }: Names, settings: CronSettings): Scaffold {
  const { pattern, timezone, asClass } = settings
  const isDefault = place.folder === 'src/crons'
  return {
    files: moduleAndTest(place, kebab, 'cron', {
      kebab,
      name: identifier(camel, 'Cron'),
      className: `${pascal}Cron`,
      asClass,
      pattern: literal(pattern),
      timezone: timezone && literal(timezone),
    }),
    packages: ['node-schedule'],
    next: [
      `In ${place.server}, unless it is there already; the files of the folder are loaded when the server listens:`,
      isDefault
        ? `  new Server({ plugins: { cron: true } })`
        : `  new Server({ plugins: { cron: { crons: ['${globOf(place)}'] } } })`,
      ...(asClass ? decoratorNotes(place) : []),
    ],
  }
}
