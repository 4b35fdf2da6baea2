import type { Logger } from '../../kernel/index.ts'
import { loadServiceClasses, nameOf } from '../shared/service-class.ts'
import { cronClasses, jobsOfClass } from './base-cron.ts'
import type { Declared } from './declarations.ts'
import { handleOf } from './handle.ts'
import type { CronSettings } from './options.ts'

/**
 * Imports the files of globs, and makes the classes; handles start themselves while their file is imported.
 *
 * @throws (as a rejection) CronFileError, CronClassError.
 */
export async function loadCrons({ crons, isDefaultGlob }: CronSettings, log: Logger): Promise<Declared[]> {
  const sources = {
    sources: crons,
    isDefault: isDefaultGlob,
    takes: 'crons takes classes that extend BaseCron and have @cron methods, handles of cron(), and globs',
    other(value: unknown, where: string) {
      const handle = handleOf(value)
      if (handle?.wasStarted() === false) {
        log.warn({ where }, `the cron job "${nameOf(value)}" has no handler: call its start(handler)`)
      }
      return handle !== undefined
    },
  }
  const classes = await loadServiceClasses(cronClasses, sources, log)
  return classes.flatMap((cls) => jobsOfClass(cls, log))
}
