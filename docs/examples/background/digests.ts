import { cron, definePlugin, queue } from 'framework'

export interface Digest {
  readonly address: string
  /** The day that the digest is about; together with the address, it identifies the digest. */
  readonly day: string
}

/** In memory, unless the configuration or `QUEUE_ENGINE` names an engine. */
export const digestQueue = queue<Digest>('digests')

/** The digests that have been sent. In production, this is a table whose key is the address and the day. */
export interface SentDigests {
  /** Records a digest; `false` if it was recorded before. */
  claim(digest: Digest): Promise<boolean>
  /** Removes the record again, for an email that could not be sent. */
  release(digest: Digest): Promise<void>
}

export interface DigestOptions {
  readonly addresses: () => Promise<readonly string[]>
  readonly sent: SentDigests
  /** Called for a digest that has no attempts left. */
  readonly onDead?: (digest: Digest) => void
}

/** Emails a digest to everyone, every morning. */
export const digests = definePlugin({
  name: 'digests',
  dependencies: ['cron', 'queues', 'mailer'],
  async setup(ctx, { addresses, sent, onDead }: DigestOptions) {
    const mailer = ctx.services.get('mailer')

    const job = cron('0 7 * * *', { name: 'digests', timezone: 'Europe/Rome' })
    await job.start(async ({ scheduledAt, logger }) => {
      const day = scheduledAt.toISOString().slice(0, 10)
      const all = await addresses()
      await digestQueue.publishMany(
        all.map((address) => ({ address, day })),
        // A second tick on the same day adds nothing while the first is under way.
        ({ address }) => ({ id: `${day} ${address}`, attempts: 5, backoff: { type: 'exponential', delay: 50 } }),
      )
      logger.info({ count: all.length }, 'digests are on their way')
    })

    await digestQueue.subscribe(
      async (digest) => {
        if (!(await sent.claim(digest))) return
        try {
          await mailer.send((mail) => mail.to(digest.address).subject(`Your ${digest.day}`).text('…'))
        } catch (error) {
          await sent.release(digest)
          throw error
        }
      },
      { concurrency: 5, onDead: (digest) => onDead?.(digest) },
    )
  },
})
