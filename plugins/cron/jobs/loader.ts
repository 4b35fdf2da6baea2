import type { Logger } from '../../../kernel/index.ts'
import { loadServiceClasses, nameOf } from '../../shared/work/service-class.ts'
import type { CronSettings } from '../options.ts'
import { type BaseCronClass, classlessJob, cronClasses, jobsOfClass } from './base-cron.ts'
import { type Declared, endJob } from './declarations.ts'
import { handleOf } from './handle.ts'

/**
 * Imports the files that match the globs, and constructs the classes; handles start themselves while their file is imported. Without
 * the option `crons`, every class that this process has imported is also constructed; with it, omitted classes are reported.
 *
 * @throws (as a rejection) CronFileError, CronClassError.
 */
export async function loadCrons({ crons, isDefaultGlob }: CronSettings, log: Logger): Promise<Declared[]> {
  const jobs: Declared[] = []
  const sources = {
    sources: crons,
    isDefault: isDefaultGlob,
    takes: 'it takes classes that extend BaseCron and have @cron methods, handles of cron(), and globs',
    other(value: unknown, where: string) {
      const handle = handleOf(value)
      if (handle?.wasStarted() === false) {
        log.warn({ where }, `the cron job "${nameOf(value)}" has no handler. Call start(handler) on it`)
      }
      return handle !== undefined
    },
  }
  const mount = {
    take: (cls: BaseCronClass) => void jobs.push(...jobsOfClass(cls, log)),
    takeAlone(method: Parameters<typeof classlessJob>[0]) {
      const job = classlessJob(method, log, new Set(jobs.map(({ name }) => name)))
      jobs.push(job)
      return () => endJob(job.activity)
    },
  }
  await loadServiceClasses(cronClasses, sources, mount, log)
  return jobs
}
