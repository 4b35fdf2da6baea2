import { cron, definePlugin } from 'framework'

const dayMs = 86_400_000

/** Every morning, emails the desk about each book that someone has had for a month. */
export const reminders = definePlugin({
  name: 'reminders',
  dependencies: ['library', 'cron', 'mailer'],
  setup(ctx) {
    const library = ctx.services.get('library')
    const mailer = ctx.services.get('mailer')
    const reminding = cron('0 8 * * *', { name: 'reminders' })
    // Not when it listens: `framework cron-start` runs the jobs of an application that does not.
    ctx.onReady(() =>
      reminding.start(async ({ scheduledAt }) => {
        for (const { title, member } of await library.overdue(new Date(scheduledAt.getTime() - 30 * dayMs)))
          await mailer.later((mail) =>
            mail.to('desk@example.org').subject(`Overdue: ${title}`).text(`Member ${member} has it.`),
          )
      }),
    )
  },
})
