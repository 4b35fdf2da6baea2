import { answerAsLeader, askLeader } from '../../toolkit/workers.ts'
import type { CronJobInfo } from '../jobs/run.ts'
import type { CronService } from '../service.ts'

/** The jobs as the page needs them, from whichever worker runs them. */
export interface ShownJobs {
  /** Rejects where no worker that runs them answers. */
  list(): Promise<readonly CronJobInfo[]>
  /** Resolves to whether it has begun; `undefined`: no job has this name. Rejects as `list`. */
  run(name: string): Promise<boolean | undefined>
}

/** `scope` distinguishes the services of one server. */
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
      const answer = await askLeader(topics.run, name)
      return answer === null ? undefined : answer === true
    },
  }
}

const times = new Set(['scheduledAt', 'startedAt', 'endedAt', 'runningSince', 'next'])

/** The values before they were serialised. */
function asJobs(given: unknown): readonly CronJobInfo[] {
  const text = JSON.stringify(given)
  return JSON.parse(text, (key, value: unknown) =>
    times.has(key) && typeof value === 'string' ? new Date(value) : value,
  ) as readonly CronJobInfo[]
}
