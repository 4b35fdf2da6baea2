import { clock, didYouMean, isInTime, type Logger, systemClock } from '../../kernel/index.ts'
import { lineLogger } from '../shared/logging/logger.ts'
import { Running, stopOptions } from '../shared/work/running.ts'
import { nameOf, type ServiceSources } from '../shared/work/service-classes.ts'
import { CronNameError } from './failures.ts'
import { leaveTo, openAlone } from './jobs/alone.ts'
import { classlessJob, cronClasses, jobsOfClass } from './jobs/base-cron.ts'
import { type Declared, isElsewhere, naming, servers, services, started } from './jobs/declarations.ts'
import { handleOf } from './jobs/handle.ts'
import { Job, type JobSurroundings } from './jobs/job.ts'
import type { CronJobInfo } from './jobs/run.ts'
import { type LockGuard, lockGuard, openLock } from './locks/guard.ts'
import { type CronServiceOptions, type CronSettings, cronServiceOptions } from './options.ts'
import { openWallClock, type WallClock } from './schedule/system-clock.ts'

/**
 * Runs the jobs of one server, or of a script: those of the files and classes that it loads, and those of every handle in the process that was
 * started. Of several scripts one runs a job at a time, and none while a server runs it.
 *
 * @example
 * const service = await CronService.run({ crons: ['dist/crons/*.js'] })
 * for (const { name, next } of service.jobs()) console.log(name, next)
 * await service.stop()
 */
export class CronService {
  readonly #settings: CronSettings
  readonly #sources: NonNullable<CronSettings['crons']>
  readonly #clock: WallClock | undefined
  #logger: Logger
  /** By the runs in scripts, which identify a job. */
  readonly #jobs = new Map<Running, Job>()
  /** The last job of each name, which may have ended. */
  readonly #byName = new Map<string, Declared>()
  /** Those that are given as objects. */
  readonly #listed: readonly Declared[]
  /** The server whose jobs it runs; a script has none. @internal */
  server: object | undefined
  #around: JobSurroundings | undefined
  /** Lasts from a start to the following stop. */
  #life: { isHalted: boolean } | undefined
  #opening: Promise<void> | undefined
  #starting: Promise<void> | undefined
  #stopping: Promise<readonly string[]> | undefined

  /** Creates a service that is not started; `settings` are options that a plugin has already parsed, `wall` is a clock of its own. */
  constructor(
    options: CronServiceOptions & { logger?: Logger } = {},
    settings: CronSettings = cronServiceOptions.parse(options, 'cron'),
    wall?: WallClock,
  ) {
    this.#settings = settings
    this.#sources = settings.crons ?? { sources: ['src/crons/**/*.{ts,js}'], listed: [], isDefault: true }
    this.#clock = wall
    this.#logger = settings.logger ?? lineLogger()
    this.#listed = this.#sources.listed.map(({ schedule, handler, options }) => {
      const nameOf = naming(options.name, schedule.text, () => this.server)
      return {
        get name() {
          return nameOf()
        },
        ...{ isNamed: options.name !== undefined, pattern: schedule, options, handler, inScripts: new Running() },
      }
    })
  }

  /**
   * Loads the job files and runs the jobs, including those of imported classes, without a server.
   *
   * @throws (as a rejection) CronFileError, CronClassError, CronNameError, PeerMissingError.
   * @example
   * const service = await CronService.run({ crons: ['dist/crons/*.js'] })
   * process.once('SIGTERM', () => void service.stop())
   */
  static async run(options: CronServiceOptions & { logger?: Logger } = {}): Promise<CronService> {
    const service = new CronService(options)
    await service.start()
    return service
  }

  /** Makes this the service of a server, until the returned function is called. @internal */
  mount(server: object, logger: Logger): () => void {
    this.#logger = logger
    this.server = server
    return servers.mount(server, this, started, cronClasses)
  }

  /** Loads and starts all jobs; a server calls this when it listens. */
  start(): Promise<void> {
    if (this.#starting !== undefined) return this.#starting
    const life = { isHalted: false }
    this.#life = life
    services.add(this)
    leaveTo(this)
    this.#opening = this.#startOnce(this.#stopping, life)
    this.#starting = this.#opening.catch(async (error: unknown) => {
      await this.stop()
      throw error
    })
    return this.#starting
  }

  async #startOnce(stopped: Promise<unknown> | undefined, life: { readonly isHalted: boolean }): Promise<void> {
    await stopped
    const { timezone, history, lock } = this.#settings
    const wall = this.#clock ?? (await openWallClock())
    const logger = this.#logger
    const around = {
      ...{ clock: wall, guard: undefined as LockGuard | undefined, logger, timezone, history },
      ...{ server: this.server, isElsewhere: (declared: Declared) => isElsewhere(declared, this) },
    }
    this.#around = around
    if (lock !== undefined) {
      around.guard = lockGuard(await openLock(lock), logger)
      void around.guard.probe()
    }
    const jobs = await loadCrons(this.#sources, logger, this.server)
    if (life.isHalted) return
    await started.open(this)
    if (life.isHalted) return
    for (const job of [...jobs, ...this.#listed]) this.adopt(job)
  }

  /**
   * Stops the ticks, aborts the signals of running jobs, and waits for those jobs.
   *
   * Resolves with the names of the jobs that are still running after `timeout` milliseconds (10000); a warning also lists them.
   */
  async stop(options?: { timeout?: number }): Promise<readonly string[]> {
    const { timeout } = stopOptions.parse(options, 'cron.stop')
    if (this.#starting === undefined) return this.#stopping ?? []
    this.#starting = undefined
    this.#halt()
    this.#stopping = this.#stopOnce(this.#opening!, timeout)
    return this.#stopping
  }

  async #stopOnce(opening: Promise<void>, timeout: number): Promise<readonly string[]> {
    // If the service is still starting, the resources that it opens have to be closed afterwards.
    await opening.catch(() => {})
    const around = this.#around
    await isInTime(this.idle(), timeout, systemClock)
    const left = [...this.#jobs.values()].filter((job) => job.active.count > 0).map((job) => job.declared.name)
    if (left.length > 0) {
      this.#logger.warn(
        { jobs: left },
        `closing no longer waits for the cron jobs ${left.join(', ')}: they are still running`,
      )
    }
    for (const job of this.#jobs.values()) job.active.abandon(new Error('the service of the cron jobs has stopped'))
    this.#jobs.clear()
    if (this.#starting === undefined) services.delete(this)
    this.#around = undefined
    around?.clock.close?.()
    await around?.guard?.close()
    return left
  }

  /** Ends the ticks, aborts the signals, and waits for the running jobs for as long as they take. @internal */
  drain(): Promise<void> {
    this.#halt()
    return this.idle()
  }

  #halt(): void {
    if (this.#life !== undefined) this.#life.isHalted = true
    started.leave(this)
    const reason = new Error('the cron jobs are stopping')
    for (const job of this.#jobs.values()) {
      job.stop()
      job.active.abort(reason)
    }
  }

  /** Resolves when no job is running. */
  async idle(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map((job) => job.active.idle()))
  }

  /** Rejects if its lock does not respond. @internal */
  async check(): Promise<void> {
    await this.#around?.guard?.check()
  }

  /** Whether the service runs jobs, or is about to. @internal */
  get isStarted(): boolean {
    return this.#starting !== undefined
  }

  /** Returns the time: that of a test clock, if one is in use. */
  now(): Date {
    return new Date(clock.now())
  }

  /** The zone of jobs that set none; `undefined`: the zone of the process. @internal */
  get timezone(): string | undefined {
    return this.#settings.timezone
  }

  /** Those that no other service runs in place of this one, and those that are still running here. */
  get #own(): Job[] {
    return [...this.#jobs.values()].filter((job) => job.active.count > 0 || !isElsewhere(job.declared, this))
  }

  /** Returns every job with its next tick, its last runs and its counts, sorted by name. */
  jobs(): CronJobInfo[] {
    return this.#own.map((job) => job.info).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /**
   * Runs a job once, now. Resolves when the run has begun; with `false` when the job is already running, here or in
   * another instance, or when the service is stopping.
   *
   * @throws (as a rejection) CronNameError for a name that no job has.
   */
  async trigger(name: string): Promise<boolean> {
    const job = this.#own.find((one) => one.declared.name === name)
    // Stopping waits for jobs that are already running, so new runs must not begin.
    if (job !== undefined) return this.#life?.isHalted ? false : job.trigger()
    const names = this.jobs().map((one) => one.name)
    throw CronNameError(name, `no running job has this name.${didYouMean(name, names)}`)
  }

  /** Waits for the ticks of a job from now on. @throws CronNameError @internal */
  adopt(declared: Declared): void {
    const around = this.#around!
    const { name, isNamed, options, inScripts } = declared
    if (!isNamed && around.guard !== undefined && options.lock !== false) {
      throw CronNameError(
        name,
        'a job with a lock needs a name, which is the same in all instances: cron(pattern, { name })',
      )
    }
    const namesake = this.#byName.get(name)?.inScripts
    if (namesake !== undefined && namesake !== inScripts) {
      if (this.#jobs.get(namesake)?.isScheduled)
        throw CronNameError(
          name,
          'two cron jobs of this server have this name. Rename one: cron(pattern, { name }); or, if it is started again for each server, start it in a hook of a plugin, so that it belongs to the server of the hook',
        )
      this.#jobs.delete(namesake)
    }
    this.#byName.set(name, declared)
    const job = this.#jobs.get(inScripts) ?? new Job(declared, around)
    this.#jobs.set(inScripts, job)
    job.start()
  }

  /** @internal */
  drop({ inScripts }: Declared): void {
    this.#jobs.get(inScripts)?.stop()
  }

  /** Whether it waits for the ticks of a job; for a server, also whether the job is still running. @internal */
  has({ inScripts }: Declared): boolean {
    const job = this.#jobs.get(inScripts)
    return job !== undefined && (job.isScheduled || (this.server !== undefined && job.active.count > 0))
  }

  /** Removes a job from the list, since it has ended permanently. One that is still running stays until it ends, because closing waits for it. @internal */
  forget({ inScripts }: Declared): void {
    const idle = this.#jobs.get(inScripts)?.active.idle()
    void idle?.then(() => this.#jobs.delete(inScripts))
  }
}

/**
 * Imports the files that match the globs, and constructs the classes; handles start themselves while their file is imported. Without
 * the option `crons`, every class that this process has imported is also constructed; with it, omitted classes are reported.
 *
 * @throws (as a rejection) CronFileError, CronClassError.
 */
async function loadCrons(sources: ServiceSources, log: Logger, server: object | undefined): Promise<Declared[]> {
  const jobs: Declared[] = []
  const other = (value: unknown, where: string) => {
    const handle = handleOf(value)
    if (handle?.wasStarted() === false)
      log.warn({ where }, `the cron job "${nameOf(value)}" has no handler. Call start(handler) on it`)
    return handle !== undefined
  }
  await cronClasses.load(
    { ...sources, other },
    {
      server,
      take: (cls) => void jobs.push(...jobsOfClass(cls, log, server)),
      takeAlone: (method) => void jobs.push(classlessJob(method, log, new Set(jobs.map(({ name }) => name)))),
    },
    log,
  )
  return jobs
}

openAlone((wall) => new CronService({ crons: [] }, undefined, wall))
