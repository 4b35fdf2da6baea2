import { cron, definePlugin, HttpError, queue, router } from 'framework'
import { Id } from './films.ts'

interface Confirmation {
  readonly mail: string
  readonly title: string
}

const confirmations = queue<Confirmation>('confirmations', {
  attempts: 5,
  backoff: { type: 'exponential', delay: 1000 },
})

router.post('/films/:id/bookings', { params: Id, auth: 'required', transaction: true }, async (req, res) => {
  const { database, params, user } = req
  const taken = await database.query<{ title: string }>(
    'update films set seats = seats - 1 where id = $1 and seats > 0 returning title',
    [params.id],
  )
  if (taken.rows[0] === undefined) throw new HttpError(409, { code: 'SoldOutError', message: 'No seat is left' })
  const { rows } = await database.query<{ id: number }>(
    'insert into bookings (film, member) values ($1, $2) returning id',
    [params.id, user.id],
  )
  const member = await database.query<{ mail: string }>('select mail from members where id = $1', [user.id])
  // It waits for the commit: a booking that is rolled back sends nothing.
  await confirmations.publish({ mail: member.rows[0]!.mail, title: taken.rows[0].title })
  return res.created({ booking: rows[0]!.id })
})

export const bookings = definePlugin({
  name: 'bookings',
  dependencies: ['database', 'mailer', 'queues', 'cron'],
  async setup(ctx) {
    const mailer = ctx.services.get('mailer')
    await confirmations.subscribe(async ({ mail, title }) => {
      await mailer.send((email) => email.to(mail).subject(`Your seat for ${title}`).text('See you at the cinema.'))
    })

    const report = cron('0 7 * * *', { name: 'sold-out', timezone: 'Europe/Rome' })
    await report.start(async ({ logger }) => {
      const { rows } = await ctx.services.get('database').query('select title from films where seats = 0')
      logger.info({ films: rows.length }, 'sold out')
    })
  },
})
