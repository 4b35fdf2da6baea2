import { answerAsLeader, askLeader } from '../../shared/environment/several-workers.ts'
import type { CronJobInfo } from '../jobs/run.ts'
import type { CronService } from '../service.ts'

/** The jobs as the page needs them, from whichever worker runs them. */
export interface ShownJobs {
  /** Returns the jobs. Rejects if no worker that runs them responds. */
  list(): Promise<readonly CronJobInfo[]>
  /** Runs a job. Resolves with whether it has begun, or `undefined` if no job has this name. Rejects like `list`. */
  run(name: string): Promise<boolean | undefined>
}

/** Finds the jobs in this process or in another worker; `scope` distinguishes the services of one server. */
export function shownJobs(service: CronService, scope: string): ShownJobs {
  const topics = { list: `cron jobs ${scope}`, run: `cron run ${scope}` }
  const own: ShownJobs = {
    list: async () => service.jobs(),
    run: async (name) => (service.jobs().some((job) => job.name === name) ? service.trigger(name) : undefined),
  }
  answerAsLeader(topics.list, () => own.list())
  answerAsLeader(topics.run, async (name) => (await own.run(String(name))) ?? null)
  return {
    list: async () => (service.isStarted ? own.list() : asJobs(await askLeader(topics.list))),
    async run(name) {
      if (service.isStarted) return own.run(name)
      const response = await askLeader(topics.run, name)
      return response === null ? undefined : response === true
    },
  }
}

const times = new Set(['scheduledAt', 'startedAt', 'endedAt', 'runningSince', 'next'])

/** Restores the jobs as they were before they were serialised, with their dates. */
function asJobs(given: unknown): readonly CronJobInfo[] {
  const text = JSON.stringify(given)
  return JSON.parse(text, (key, value: unknown) =>
    times.has(key) && typeof value === 'string' ? new Date(value) : value,
  ) as readonly CronJobInfo[]
}
