import {
  BaseCron,
  type CronHandle,
  type CronHandler,
  type CronJobInfo,
  type CronLock,
  type CronOptions,
  type CronRun,
  type CronService,
  cron,
  cronUi,
  memoryCronLock,
  Server,
  setCronGlobalErrorHandler,
  type Thrown,
} from 'framework'
import { cron as cronPlugin } from 'framework/plugins'
import type { CronJobSource } from 'framework/plugins/cron'
import type { Equal, Expect } from './expect.ts'

const job = cron('* * * * *', { name: 'j', overlap: 'queue', missed: 'skip', lock: false, timezone: 'UTC' })
type _job = Expect<Equal<typeof job, CronHandle>>
type _start = Expect<Equal<ReturnType<typeof job.start>, Promise<void>>>
type _stop = Expect<Equal<ReturnType<typeof job.stop>, void>>
job.start((run) => {
  type _run = Expect<Equal<typeof run, CronRun>>
  type _signal = Expect<Equal<typeof run.signal, AbortSignal>>
  return run.scheduledAt.getTime()
})
job.start(async () => {})
job.start(() => {})
cron('* * * * *', {
  onFailed: (_error, _run) => {
    type _errors = Expect<Equal<typeof _error, Thrown>>
    type _runs = Expect<Equal<typeof _run, CronRun>>
  },
})
setCronGlobalErrorHandler((error, { name }) => `${name} ${String(error)}`)
setCronGlobalErrorHandler(undefined)

class Jobs extends BaseCron {
  @cron('* * * * *')
  plain() {
    this.logger.info('plain')
  }
  @job
  async withRun({ name }: CronRun) {
    return name
  }
  // @ts-expect-error no handler of a job: it would be called with a run
  @cron('* * * * *')
  wrong(count: number) {
    return count
  }
  // @ts-expect-error a field is not a method
  @cron('* * * * *')
  field = 5
}

const lock: CronLock = memoryCronLock()
const options: CronOptions = {
  crons: ['a/*.js', Jobs, job],
  lock,
  ui: { path: '/x', middlewares: [] },
}
const server = new Server({ plugins: { cron: options } })
const listed = new Server([cronPlugin({ lock: { redis: 'redis://x', ttl: 1000 } }), cronUi({ path: '/crons' })])
type _service = Expect<Equal<typeof listed.services.cron, CronService>>
type _jobs = Expect<Equal<ReturnType<typeof listed.services.cron.jobs>, CronJobInfo[]>>
type _run = Expect<Equal<ReturnType<typeof CronService.run>, Promise<CronService>>>
type _handler = Expect<Equal<CronHandler, (run: CronRun) => unknown>>
server.services.get('cron').trigger('j')
new Server({ background: { crons: ['src/jobs/*.ts', Jobs, job] } })
const listedJob: CronJobSource = { schedule: '* * * * *', handler: async () => {} }
new Server({
  background: {
    crons: [
      listedJob,
      {
        schedule: '* * * * *',
        handler: (run) => {
          type _run = Expect<Equal<typeof run, CronRun>>
        },
        options: { name: 'j', overlap: 'queue', timeout: 5000 },
      },
    ],
  },
})
new Server({ plugins: { cron: { lock: { postgres: { url: 'postgres://x', ssl: true } } } } })

// @ts-expect-error a pattern is text
cron(5)
// @ts-expect-error a job is started with a function
job.start('handler')
// A stopped one continues with its former handler.
job.start()
// @ts-expect-error no such rule
cron('* * * * *', { overlap: 'drop' })
// @ts-expect-error a misspelt option
cron('* * * * *', { timeZone: 'UTC' })
// @ts-expect-error a misspelt option of the plugin
new Server({ plugins: { cron: { timeZone: 'UTC' } } })
// @ts-expect-error no lock
new Server({ plugins: { cron: { lock: 'redis' } } })
// @ts-expect-error no such source
new Server({ background: { crons: [5] } })
// @ts-expect-error no handler
new Server({ background: { crons: [{ schedule: '* * * * *' }] } })
// @ts-expect-error no such rule
new Server({ background: { crons: [{ schedule: '* * * * *', handler() {}, options: { overlap: 'drop' } }] } })
// @ts-expect-error a misspelt member
new Server({ background: { crons: [{ schedule: '* * * * *', handler() {}, option: {} }] } })
// @ts-expect-error a class that has no logger
new Server({ background: { crons: [class {}] } })
// @ts-expect-error names are read, not written
job.name = 'other'
