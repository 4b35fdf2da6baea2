import { importFiles, type Logger } from '../../kernel/index.ts'
import { type BaseCronClass, isCronClass, isForgotten, jobsOfClass } from './base-cron.ts'
import type { Declared } from './declarations.ts'
import { CronClassError, CronFileError } from './failures.ts'
import { handleOf } from './handle.ts'
import type { CronSource } from './options.ts'

/**
 * Imports the files of globs, and makes the classes; handles start themselves while their file is imported.
 *
 * @throws (as a rejection) CronFileError, CronClassError.
 */
export async function loadCrons(
  sources: readonly CronSource[],
  isDefaultGlob: boolean,
  log: Logger,
): Promise<Declared[]> {
  const classes = new Set<BaseCronClass>()
  const globs: string[] = []
  for (const source of sources) {
    if (typeof source === 'string') globs.push(source)
    else if (isCronClass(source)) classes.add(source)
    else if (handleOf(source) === undefined) throw CronClassError(nameOf(source), notOne)
    else warnOfIdle(source, 'crons', log)
  }
  await importFiles(globs, {
    unmatched(pattern, folder) {
      if (isDefaultGlob) return
      log.warn({ pattern, folder }, `crons: ${JSON.stringify(pattern)} matches no file in ${folder}`)
    },
    failure: CronFileError,
    take(exported, file) {
      for (const value of exported) {
        if (isCronClass(value)) classes.add(value)
        else if (isForgotten(value))
          throw CronClassError(nameOf(value), 'it has @cron methods and does not extend BaseCron')
        else warnOfIdle(value, file, log)
      }
    },
  })
  const all = [...classes]
  // A base comes along where its file exports it; its jobs are those of the classes that extend it.
  const isBase = (cls: BaseCronClass) => all.some((other) => other.prototype instanceof cls)
  return all.filter((cls) => !isBase(cls)).flatMap((cls) => jobsOfClass(cls, log))
}

const notOne = 'crons takes classes that extend BaseCron and have @cron methods, handles of cron(), and globs'

const nameOf = (value: unknown) => (value as { name?: string }).name || 'a function'

function warnOfIdle(value: unknown, where: string, log: Logger): void {
  if (handleOf(value)?.wasStarted() === false) {
    log.warn({ where }, `the cron job "${nameOf(value)}" has no handler: call its start(handler)`)
  }
}
