import { cron, definePlugin, queue, Server, sqlMigrations } from 'framework'

const migrations = sqlMigrations({
  '001-accounts':
    "create table accounts (id integer primary key, state text not null default 'trial', until text not null)",
})

const endings = queue<{ account: number }>('recipe-endings', { attempts: 5, backoff: 60_000 })

const trials = definePlugin({
  name: 'trials',
  dependencies: ['cron', 'queues', 'database'],
  async setup(ctx) {
    const database = ctx.services.get('database')

    // The job does little that can fail: it finds the work, and leaves each part of it to the queue.
    const job = cron('0 3 * * *', { name: 'trials', timezone: 'Europe/Rome', timeout: 10 * 60_000 })
    await job.start(async ({ scheduledAt, logger }) => {
      const { rows } = await database.query<{ id: number }>(
        "select id from accounts where state = 'trial' and until <= $1",
        [scheduledAt],
      )
      await endings.publishMany(
        rows.map(({ id }) => ({ account: id })),
        // A second run adds nothing that waits already.
        ({ account }) => ({ id: `ending ${account}` }),
      )
      logger.info({ accounts: rows.length }, 'trials end')
    })

    await endings.subscribe(
      async ({ account }) => {
        // Safe to repeat: the second time it changes nothing.
        await database.query("update accounts set state = 'ended' where id = $1 and state = 'trial'", [account])
      },
      { concurrency: 5 },
    )
  },
})

export function makeServer({ postgres }: { postgres?: string } = {}) {
  return new Server({
    plugins: {
      database: { migrations, ...(postgres !== undefined && { url: postgres }) },
      queues: {
        run: true,
        ...(postgres !== undefined && {
          config: { queues: { default: 'pgboss' }, pgboss: { connectionString: postgres } },
        }),
      },
      // Of several instances, one runs each tick.
      cron: { crons: [], ...(postgres !== undefined && { lock: { postgres } }) },
      trials: trials(),
    },
  })
}
