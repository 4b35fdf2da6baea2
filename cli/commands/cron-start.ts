import type { CronJobInfo } from '../../plugins/cron/index.ts'
import { ensurePlugin, watchForEnd } from '../application/background.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { printTable } from '../columns.ts'
import { CommandFailure } from '../failure.ts'
import { ownCommand } from '../run/own-command.ts'
import { leaveOutputToApplication, sendLogsTo } from '../run/standard-output.ts'

export const cronStart = ownCommand({
  details: `Boots the application and runs its jobs in the foreground, without listening: the jobs of the plugin "cron" or of
background.crons, else of src/crons/**/*.{ts,js}, and every handle that was started. Queues and MQTT do not run. After the
first SIGINT or SIGTERM, running jobs may take nearly all of the closeTimeout of the server.`,
  flags: applicationFlags,
  async run({ flags, print, note, boot }) {
    // As in a server: people watch the logs of such a process.
    sendLogsTo('stdout')
    const application = await applicationOf(flags)
    const { server, entry } = application
    await ensurePlugin(application, 'cron')
    const ended = watchForEnd(server, note)
    await boot(server)
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
