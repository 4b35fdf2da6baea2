import type { CronJobInfo } from '../../plugins/cron/index.ts'
import { bootInBackground } from '../application/background.ts'
import { applicationFlags } from '../application/flags.ts'
import { printTable } from '../columns.ts'
import { CommandFailure } from '../failure.ts'
import { ownCommand } from '../run/own-command.ts'
import { leaveOutputToApplication } from '../run/standard-output.ts'

export const cronStart = ownCommand({
  details: `Boots the application and runs its jobs in the foreground, without listening: the jobs of the plugin "cron" or of
background.crons, else of src/crons/**/*.{ts,js}, and every handle that was started. Queues and MQTT do not run. After the
first SIGINT or SIGTERM, running jobs may take nearly all of the closeTimeout of the server.`,
  flags: applicationFlags,
  async run(input) {
    const { print, note } = input
    const { server, entry, ended } = await bootInBackground(input, 'cron')
    const service = server.services.get('cron')
    await service.start()
    const jobs = service.jobs()
    if (jobs.length === 0) {
      throw new CommandFailure(
        `${entry} has no cron jobs: the files of its option "crons" (default src/crons/**/*.{ts,js}) have none, and no cron(pattern) was started`,
      )
    }
    leaveOutputToApplication()
    printTable(jobs.map(rowOf), print)
    note(`${jobs.length} cron ${jobs.length === 1 ? 'job' : 'jobs'} of ${entry}; Ctrl+C stops`)
    await ended
  },
})

const rowOf = ({ name, pattern, timezone, next }: CronJobInfo) => [
  name,
  pattern === name ? '' : pattern,
  `${next === undefined ? 'never' : `next ${next.toISOString()}`}${timezone === undefined ? '' : ` · ${timezone}`}`,
]
