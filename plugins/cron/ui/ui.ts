import { definePlugin, sendFailure, type WorkerPlace } from '../../../kernel/index.ts'
import { sendPage } from '../../shared/development/operator-page.ts'
import { announcePage } from '../../shared/development/pages.ts'
import { publicPage, publicPageCheck, warnOfPublicPage } from '../../shared/doctor/public-page.ts'
import { peer } from '../../shared/environment/optional-package.ts'
import { answerAsLeader, askLeader } from '../../shared/environment/several-workers.ts'
import { HttpError } from '../../shared/failures/http-error.ts'
import { isFromHere } from '../../shared/http/origins.ts'
import type { SettingsOf } from '../../shared/options/index.ts'
import { safely } from '../../shared/values/safely.ts'
import type { CronJobInfo } from '../jobs/run.ts'
import { cronUiOptions } from '../options.ts'
import type { CronService } from '../service.ts'

/**
 * Adds a page with the scheduled jobs: when they run, when they ran, for how long and with what outcome; needs the package `cronstrue`.
 *
 * It is public unless `middlewares` guard it. Only a guarded page can run a job.
 *
 * @example
 * import { cronUi, type Middleware, Server } from 'framework'
 * import { cron } from 'framework/plugins'
 *
 * const staffOnly: Middleware = (req, res, next) =>
 *   req.headers['x-key'] === process.env.ADMIN_KEY ? next() : res.unauthorized()
 * new Server({ plugins: [cron(), cronUi({ path: '/admin/crons', middlewares: [staffOnly] })] })
 */
export const cronUi = definePlugin({
  name: 'cronUi',
  access: { routes: true },
  dependencies: ['cron'],
  options: cronUiOptions,
  doctor: async () => [publicPageCheck('cronUi.public', unguarded)],
  async setup(ctx, settings) {
    const { path, middlewares } = settings
    const service = ctx.services.get('cron')
    const isGuarded = middlewares.length > 0
    warnOfPublicPage(ctx, unguarded(settings, ctx.prefix))
    const [describe, { contentSecurityPolicy, renderPage }, { processZone, refreshOf }] = await Promise.all([
      loadDescriber(),
      import('./page.ts'),
      import('../../shared/pages/markup.ts'),
    ])
    const routeOptions = { middlewares: [...middlewares], apidoc: { tags: ['cron'] }, tenant: false } as const
    const shown = shownJobs(service, ctx.scope)

    ctx.get(path, routeOptions, async function cronPage(req, res) {
      const { jobs, failure } = await shown.list().then(
        (jobs) => ({ jobs, failure: undefined }),
        () => ({ jobs: [], failure: elsewhere(ctx.server.worker) }),
      )
      const { ran, busy, refresh } = req.query as Record<string, unknown>
      const named = (name: unknown) => jobs.some((job) => job.name === name)
      const notice = named(ran)
        ? `${String(ran)} was started.`
        : named(busy)
          ? `${String(busy)} was not started: it is already running, or its lock cannot be reached.`
          : failure
      const view = {
        now: service.now(),
        timezone: service.timezone ?? processZone(),
        canRun: isGuarded,
        refresh: refreshOf(refresh),
        notice,
        describe,
      }
      return sendPage(res, contentSecurityPolicy, renderPage(jobs, view))
    })

    announcePage(ctx.server, isGuarded ? 'jobs (guarded)' : 'jobs', `${ctx.prefix}${path}`)
    if (!isGuarded) return
    ctx.post(path, routeOptions, async function runCron(req, res) {
      if (!isFromHere(req))
        return sendFailure(req, res, new HttpError(403, { message: 'the request comes from another site' }))
      const name = String((req.query as Record<string, unknown>).run ?? '')
      const began = await shown.run(name)
      if (began === undefined) return sendFailure(req, res, new HttpError(404, { message: 'there is no such job' }))
      return res
        .setHeader('cache-control', 'no-store')
        .redirect(`?${began ? 'ran' : 'busy'}=${encodeURIComponent(name)}`, 303)
    })
  },
})

const guard = 'Guard the page: cron: { ui: { middlewares: [staffOnly] } }, or cronUi({ middlewares: [staffOnly] })'
const unguarded = (settings: SettingsOf<typeof cronUiOptions>, prefix = '') =>
  publicPage(settings, `the jobs at ${prefix}${settings.path}`, guard)

function elsewhere(worker: WorkerPlace | undefined): string {
  if (worker === undefined) return 'The jobs have not started.'
  return `Worker ${worker.number} of ${worker.of} responded. The jobs run in another worker, which does not respond now.`
}

async function loadDescriber(): Promise<(pattern: string) => string> {
  const loaded: { default?: unknown } = await peer('cronstrue', () => import('cronstrue'), 'the page of the cron jobs')
  const inner = loaded.default as { default?: unknown; toString?: unknown }
  const cronstrue = (inner.default ?? inner) as { toString(pattern: string, options: object): string }
  return (pattern) => safely(() => cronstrue.toString(pattern, { use24HourTimeFormat: true }), '')
}

/** How many pages this process has had: every worker makes its servers in the same order. */
let pages = 0

/** The jobs as the page needs them, in this process or in another worker; `scope` is for people who read the message of a failure. */
function shownJobs(service: CronService, scope: string) {
  const page = `${++pages} ${scope}`
  const topics = { list: `cron jobs ${page}`, run: `cron run ${page}` }
  const runHere = async (name: string) =>
    service.jobs().some((job) => job.name === name) ? service.trigger(name) : undefined
  answerAsLeader(topics.list, () => service.jobs())
  answerAsLeader(topics.run, async (name) => (await runHere(String(name))) ?? null)
  return {
    /** Returns the jobs. Rejects if no worker that runs them responds. */
    list: async () => (service.isStarted ? service.jobs() : asJobs(await askLeader(topics.list))),
    /** Runs a job. Resolves with whether it has begun, or `undefined` if no job has this name. Rejects like `list`. */
    async run(name: string): Promise<boolean | undefined> {
      if (service.isStarted) return runHere(name)
      const response = await askLeader(topics.run, name)
      return response === null ? undefined : response === true
    },
  }
}

const times = new Set(['scheduledAt', 'startedAt', 'endedAt', 'runningSince', 'next'])

/** Restores the jobs as they were before they were serialised, with their dates. */
function asJobs(given: unknown): readonly CronJobInfo[] {
  const text = JSON.stringify(given)
  return JSON.parse(text, (key, value: unknown) =>
    times.has(key) && typeof value === 'string' ? new Date(value) : value,
  ) as readonly CronJobInfo[]
}
