import type { Logger } from '../../../kernel/index.ts'
import type { ImportedMethod } from '../../shared/work/imported-methods.ts'
import { loadServiceClasses, nameOf } from '../../shared/work/service-class.ts'
import type { CronSettings } from '../options.ts'
import { BaseCron, type BaseCronClass, classlessJob, cronClasses, jobsOfClass } from './base-cron.ts'
import { type Declared, endJob } from './declarations.ts'
import { type CronNote, handleOf, importedJobs, shownJob } from './handle.ts'

/**
 * Imports the files that match the globs, and constructs the classes; handles start themselves while their file is imported. Without
 * the option `crons`, every class that this process has imported is also constructed; with it, omitted classes are reported.
 *
 * @throws (as a rejection) CronFileError, CronClassError.
 */
export async function loadCrons({ crons, isDefaultGlob }: CronSettings, log: Logger): Promise<Declared[]> {
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
  const classes = await loadServiceClasses(cronClasses, sources, log)
  for (const cls of classes) importedJobs.take(cls)
  const jobs = classes.flatMap((cls) => jobsOfClass(cls, log))
  if (isDefaultGlob) jobs.push(...loadImported(log))
  importedJobs.report(log, (method) => `${shownJob(method)} does not run: ${whyLeft(method)}`)
  return jobs
}

const whyLeft = ({ owner }: ImportedMethod<CronNote>) =>
  owner === undefined || owner.prototype instanceof BaseCron
    ? 'no file of the option crons exports its class, and the option does not list it'
    : 'its class does not extend BaseCron'

/** Returns the jobs of classes that the application has imported itself. */
function loadImported(log: Logger): Declared[] {
  const jobs = importedJobs.outerClasses.flatMap((cls) => {
    if (!(cls.prototype instanceof BaseCron)) return []
    importedJobs.take(cls)
    try {
      return jobsOfClass(cls as BaseCronClass, log)
    } catch (error) {
      // This class was not listed explicitly, so its failure does not stop the others from running.
      log.error({ err: error }, `the cron jobs of ${cls.name} do not run: ${(error as Error).message}`)
      return []
    }
  })
  const taken = new Set(jobs.map(({ name }) => name))
  for (const method of importedJobs.classless(log, (one) => `${shownJob(one)} does not run`)) {
    const job = classlessJob(method, log, taken)
    taken.add(job.name)
    importedJobs.standIn(method.note, () => endJob(job.activity))
    jobs.push(job)
  }
  return jobs
}
