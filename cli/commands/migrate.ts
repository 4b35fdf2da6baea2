import { messageOf } from '../../plugins/shared/values/safely.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { CommandFailure } from '../failure.ts'
import { onOff, ownCommand } from '../run/own-command.ts'

export const migrate = ownCommand({
  details: `Boots the application without listening, and runs the pending migrations of its databases: those in the option "migrations"
of the plugin "database". Either all migrations of a database run, or none. Processes that migrate at the same time wait for each other.`,
  flags: {
    ...applicationFlags,
    status: onOff('Only lists the pending migrations; the exit code is 1 if there are any'),
    seed: onOff('Also fills the tables with the seeds of the application'),
  },
  async run({ flags, print, note, boot }) {
    const { server, entry } = await applicationOf(flags, { mayListen: false })
    await boot(server)
    const databases = server.services.find('databases')
    const names = databases?.names.filter((name) => databases.migrationsOf(name)) ?? []
    if (databases === undefined || names.length === 0)
      throw new CommandFailure(
        `${entry} has no database with migrations. Add them: plugins: { database: { migrations: sqlMigrations({ … }) } }`,
      )
    let count = 0
    for (const name of names) {
      const steps = flags.status ? await databases.pendingMigrations(name) : await databases.migrate(name)
      for (const step of steps) print(`${name}: ${step}`)
      count += steps.length
    }
    if (count === 0) note('No migration is pending.')
    if (flags.status) return Number(count > 0)
    const seeds = flags.seed ? names.filter((name) => databases.migrationsOf(name)?.seed) : []
    if (flags.seed && seeds.length === 0) throw new CommandFailure(`${entry} has no seeds: set migrations.seed`)
    for (const name of seeds) {
      await databases.seed(name).catch((error) => {
        const why = `the seed of the database "${name}" failed: ${messageOf(error)}`
        throw new CommandFailure(`${why}. It runs at each --seed, also on tables that are filled`, error)
      })
      print(`${name}: seeded`)
    }
    return 0
  },
})
