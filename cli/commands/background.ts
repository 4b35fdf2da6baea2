import type { Kernel, Services } from '../../kernel/index.ts'
import type { CronJobInfo } from '../../plugins/cron/index.ts'
import { isProduction } from '../../plugins/shared/environment/node-env.ts'
import { safely } from '../../plugins/shared/values/safely.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { ensurePlugin } from '../application/plugin.ts'
import { printTable } from '../columns.ts'
import { CommandFailure } from '../failure.ts'
import { endWithScript } from '../run/orphan.ts'
import { ownCommand } from '../run/own-command.ts'
import { leaveOutputToApplication, sendLogsTo } from '../run/standard-output.ts'
import { joinInspector } from '../serve/inspector-address.ts'

type Note = (line: string) => void

const another = 'If another module exports the server that has them: --entry <file>'

/** What runs: a row for each, and its name in the singular. */
interface Running {
  readonly rows: readonly (readonly string[])[]
  readonly what: string
}

/** A command that boots the application and keeps running, for the work of one plugin, which `start` starts. */
const inBackground = <Plugin extends 'cron' | 'queues'>(
  plugin: Plugin,
  details: string,
  start: (service: Services[Plugin], entry: string) => Promise<Running>,
  started?: (service: Services[Plugin], note: Note) => void,
) =>
  ownCommand({
    details,
    flags: applicationFlags,
    async run({ flags, print, note, boot }) {
      // As in a server: people watch the logs of such a process.
      sendLogsTo('stdout')
      const inspector = isProduction()
        ? undefined
        : joinInspector(process.cwd(), plugin === 'cron' ? 'cron-start' : 'queue-start', note)
      // As that server has it: pages and figures that are open while developing refuse any other boot. This process has no port.
      if (inspector !== undefined) safely(() => (process.env.NODE_ENV ||= 'development'))
      const application = await applicationOf(flags)
      await ensurePlugin(application, plugin)
      // Before anything is started that must be stopped.
      const ended = watchForEnd(application.server, note)
      await boot(application.server)
      const { services } = application.server
      // As listening does: this process does not.
      await services.find('databases')?.checkPending(note)
      const service = services.get(plugin)
      const { rows, what } = await start(service, application.entry)
      leaveOutputToApplication()
      printTable(rows, print)
      note(`${rows.length} ${rows.length === 1 ? what : `${what}s`} of ${application.entry}; Ctrl+C stops`)
      started?.(service, note)
      if (inspector !== undefined) note(`The inspector of "framework serve" shows them: ${inspector}`)
      await ended
    },
  })

export const cronStart = inBackground(
  'cron',
  `Boots the application without listening and runs its jobs in the foreground: those of background.crons or of the option
"crons" of the plugin "cron" (default src/crons/**/*.{ts,js}), and every job that the code has started. Queues and MQTT do not run.
The first SIGINT or SIGTERM lets running jobs finish, within the closeTimeout of the server; the second ends the process.`,
  async (service, entry) => {
    await service.start()
    const jobs = service.jobs()
    if (jobs.length === 0)
      throw new CommandFailure(
        `${entry} has no cron jobs: its option "crons" (default src/crons/**/*.{ts,js}) finds none, and its code starts no cron(pattern) before it listens, as in onReady. ${another}`,
      )
    return { rows: jobs.map(rowOf), what: 'cron job' }
  },
)

const rowOf = ({ name, pattern, timezone, next }: CronJobInfo) => [
  name,
  pattern === name ? '' : pattern,
  `${next === undefined ? 'never' : `next ${next.toISOString()}`}${timezone === undefined ? '' : ` · ${timezone}`}`,
]

export const queueStart = inBackground(
  'queues',
  `Boots the application without listening and delivers the messages of its queues in the foreground, to every subscriber
that its modules have added with subscribe(). Cron jobs and MQTT do not run. The first SIGINT or SIGTERM lets running handlers
finish, within the closeTimeout of the server; the second ends the process.`,
  async (service, entry) => {
    const subscribers = service.subscribers()
    if (subscribers.length === 0)
      throw new CommandFailure(
        `${entry} subscribes to no queue: does it import the modules that call subscribe()? ${another}`,
      )
    await service.run()
    const rows = subscribers.map(({ queue, kind, concurrency }) => [queue, kind, `concurrency ${concurrency}`])
    return { rows, what: 'subscriber' }
  },
  (service, note) => {
    if (service.subscribers().every(({ kind }) => kind === 'memory'))
      note('Queues in memory only receive messages that this process itself publishes.')
    // The workers wait for the broker; the user wants to know what they are waiting for.
    service.health().catch((error: Error) => note(`${error.message}. The workers wait until it is available.`))
  },
)

const signals = { SIGINT: 130, SIGTERM: 143 } as const

/**
 * Watches for the end of a command that keeps running: call it before starting anything that must be stopped, and await the result
 * afterwards. It resolves when the process is asked to end, or the server closes; a second signal ends the process immediately.
 */
function watchForEnd(server: Kernel, note: Note): Promise<void> {
  endWithScript()
  return new Promise((resolve) => {
    let isAsked = false
    // There may be nothing else that keeps the process alive, for example if all jobs were stopped.
    const awake = setInterval(() => {}, 2 ** 30)
    const end = () => {
      clearInterval(awake)
      resolve()
    }
    for (const [signal, code] of Object.entries(signals)) {
      process.on(signal, () => {
        if (isAsked) process.exit(code)
        isAsked = true
        note(`${signal}: waiting for running work; send it again to stop immediately`)
        end()
      })
    }
    server.closing.addEventListener('abort', end, { once: true })
  })
}
