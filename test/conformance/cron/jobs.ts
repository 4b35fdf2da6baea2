import { BaseCron, cron } from 'framework'

class Base extends BaseCron {
  @cron('* * * * *')
  inherited() {
    this.logger.info('inherited')
  }
}

export class Jobs extends Base {
  @cron('30 2 * * *', { name: 'nightly', timezone: 'Europe/Rome' })
  @cron('@yearly')
  nightly({ scheduledAt }: { scheduledAt: Date }) {
    this.logger.info(scheduledAt.toISOString())
  }

  @cron('* * * * * *', { name: 'failing' })
  async failing() {
    throw new Error('broken')
  }
}

export const handle = cron('*/2 * * * * *', { name: 'handle' })
await handle.start(({ logger }) => logger.info('handle'))
