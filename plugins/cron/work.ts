import { clock } from '../../kernel/index.ts'
import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { CronRunTrace } from './jobs/job.ts'

export const work: readonly WorkKind[] = [
  workKind<CronRunTrace>({
    channel: 'cron.run',
    list: { id: 'cron', title: 'Cron runs' },
    help: 'Runs of jobs',
    span: ({ job }) => `cron ${job}`,
    title: ({ job }) => job,
    data: ({ job, scheduledAt }) => ({ job, scheduledAt }),
    labels: { job: { attribute: 'framework.cron.job', of: ({ job }) => job } },
    attributes: ({ scheduledAt }) => ({ 'framework.cron.scheduled_at': scheduledAt.toISOString() }),
    // Nothing requested the run: the work in which the timer was set does not include it.
    isRoot: true,
    measures: [
      {
        name: 'cron_last_success_timestamp_seconds',
        type: 'gauge',
        help: 'Time of the last successful run of the job, since 1970',
        unit: 'seconds',
        of: ({ error }) => (error === undefined ? clock.now() / 1_000 : undefined),
      },
      {
        name: 'cron_lateness_seconds',
        type: 'histogram',
        help: 'How much later than its tick a run began',
        unit: 'seconds',
        at: 'start',
        of: ({ scheduledAt }) => Math.max(0, clock.now() - scheduledAt.getTime()) / 1_000,
      },
    ],
  }),
]
