import { bootInBackground } from '../application/background.ts'
import { applicationFlags } from '../application/flags.ts'
import { printTable } from '../columns.ts'
import { CommandFailure } from '../failure.ts'
import { ownCommand } from '../run/own-command.ts'
import { leaveOutputToApplication } from '../run/standard-output.ts'

export const queueStart = ownCommand({
  details: `Boots the application and delivers the messages of its queues to its subscribers, in the foreground and without
listening: to every subscribe() that its modules have called. Cron jobs and MQTT do not run. After the first SIGINT or SIGTERM,
running handlers may take nearly all of the closeTimeout of the server.`,
  flags: applicationFlags,
  async run(input) {
    const { print, note } = input
    const { server, entry, ended } = await bootInBackground(input, 'queues')
    const service = server.services.get('queues')
    const subscribers = service.subscribers()
    if (subscribers.length === 0) {
      throw new CommandFailure(`${entry} subscribes to no queue: does it import the modules that call subscribe()?`)
    }
    await service.run()
    leaveOutputToApplication()
    const rows = subscribers.map(({ queue, kind, concurrency }) => [queue, kind, `concurrency ${concurrency}`])
    printTable(rows, print)
    note(`${subscribers.length} ${subscribers.length === 1 ? 'subscriber' : 'subscribers'} of ${entry}; Ctrl+C stops`)
    if (subscribers.every(({ kind }) => kind === 'memory')) {
      note('Queues in memory only receive messages that this process itself publishes.')
    }
    // The workers wait for the broker; the user wants to know what they are waiting for.
    service.health().catch((error: Error) => note(`${error.message}. The workers wait until it is available.`))
    await ended
  },
})
