import { cron, definePlugin } from 'framework'

const dayMs = 86_400_000

/** Every morning, lists the members who have had a book for a month. */
export const reminders = definePlugin({
  name: 'reminders',
  dependencies: ['library', 'cron'],
  setup(ctx) {
    const library = ctx.services.get('library')
    const reminding = cron('0 8 * * *', { name: 'reminders' })
    ctx.onListen(() =>
      reminding.start(({ scheduledAt, logger }) => {
        const late = library.shelf.loans.filter((loan) => scheduledAt.getTime() - Date.parse(loan.since) > 30 * dayMs)
        for (const { book, member } of late) logger.info({ member }, `"${library.book(book).title}" should come back`)
      }),
    )
  },
})
