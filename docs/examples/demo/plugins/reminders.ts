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
    ctx.onListen(() =>
      reminding.start(async ({ scheduledAt }) => {
        const late = library.shelf.loans.filter((loan) => scheduledAt.getTime() - Date.parse(loan.since) > 30 * dayMs)
        for (const { book, member } of late)
          await mailer.later((mail) =>
            mail
              .to('desk@example.org')
              .subject(`Overdue: ${library.book(book).title}`)
              .text(`Member ${member} has it.`),
          )
      }),
    )
  },
})
