import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { LogForm } from '../../plugins/shared/terminal/form.ts'
import { deferred } from '../../plugins/shared/values/promises.ts'
import { Children, saidOf } from '../process/child.ts'
import type { EndSignal } from '../process/ending.ts'
import { isCode, isSetting } from '../project/sources.ts'
import { Version } from './child.ts'
import { makeKeptStores } from './handover.ts'
import { publishInspector, withdrawInspector } from './inspector-address.ts'
import { type Crash, isSameCrash } from './protocol.ts'
import type { Report } from './report.ts'
import type { Launch } from './runtime.ts'

/** Milliseconds for a version to close; its own `closeTimeout` is at most half of it. */
const patience = 2000
/** Seconds after which an application that neither listens nor ends is reported. */
const silence = 30
/** Milliseconds before the next process loads: the new version gets the processor first. */
const rest = 300
/** Milliseconds within which a developer cannot have seen a version and changed a file. */
const soon = 500

export interface Supervision {
  readonly launch: Launch
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly inspect: boolean
  /** Whether servers have the page of the inspector. */
  readonly inspector: boolean
  /** The requested port. */
  readonly port: number | undefined
  readonly report: Report
  readonly log: LogForm
  /** Starts watching; returns a function that stops. */
  watch(changed: (files: readonly string[]) => void): () => void
}

interface Changes {
  readonly files: Set<string>
  readonly since: number
}

/** A start, and the changes that led to it. */
interface Cause {
  /** The changed files; `undefined` for the first start. */
  readonly changed: readonly string[] | undefined
  readonly since: number
}

/**
 * Runs an application and restarts it after each change.
 *
 * A new version boots while the previous one still serves, and takes over its port when that one has closed: a version that does not
 * boot never gets that far. So two versions never listen, or run jobs, at the same time. A spare process, which has not yet loaded any
 * part of the application, saves most of the time of a start: for a small application on Node.js 20, 0.7 s become 0.2.
 */
export class Supervisor {
  readonly #supervision: Supervision
  /** All running processes: the live version, one that boots, one that closes, and the spare one. */
  readonly #children = new Children<Version>()
  readonly #kept = makeKeptStores()
  readonly #spare = makeSpare(() => this.#spawn())
  /** One token for all versions: an open page continues with the next one. */
  readonly #token: string | undefined
  #changed = deferred<'change'>()
  readonly #end: Promise<EndSignal>
  /** The version that listens. */
  #live: Version | undefined
  #pending: Changes | undefined
  /** The failure of the previous version, which was shown. */
  #failure: Crash | undefined
  /** Whether a version opens a port of its own while it is loaded, so that the previous one must end first. */
  #isAlone = false
  /** How often in succession the same files have changed as soon as a version was running. */
  #repeated = 0

  constructor(supervision: Supervision) {
    this.#supervision = supervision
    this.#token = supervision.inspector ? randomBytes(24).toString('base64url') : undefined
    this.#end = new Promise((resolve) => {
      this.#children.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], (signal) => {
        resolve(signal)
        this.#wake()
      })
    })
  }

  /** Runs it until a signal ends it; resolves with the exit code. */
  async run(): Promise<number> {
    const stop = this.#supervision.watch((files) => this.#onChange(files))
    const { preload } = this.#supervision.launch
    // Without its first file, a spare process would end with a confusing message from the runtime.
    const keepSpare = () => !this.#children.isStopping && existsSync(preload) && this.#spare.keep()
    let cause: Cause = { changed: undefined, since: performance.now() }
    while (!this.#children.isStopping) {
      const isSettled = await this.#start(cause)
      const settled = performance.now()
      const rested = setTimeout(keepSpare, rest)
      await this.#news()
      clearTimeout(rested)
      if (this.#pending !== undefined) cause = this.#next(this.#pending, cause, isSettled, settled)
    }
    stop()
    withdrawInspector(this.#supervision.folder)
    this.#spare.drop()
    const signal = await this.#end
    await Promise.all([...this.#children.running].map((child) => this.#stop(child, signal)))
    return 0
  }

  #onChange(files: readonly string[]): void {
    this.#pending ??= { files: new Set(), since: performance.now() }
    for (const file of files) this.#pending.files.add(file)
    this.#wake()
  }

  #wake(): void {
    this.#changed.resolve('change')
    this.#changed = deferred()
  }

  /** Resolves with the next change or signal; immediately if there already is one. */
  async #news(): Promise<'change'> {
    return this.#pending !== undefined || this.#children.isStopping ? 'change' : this.#changed.promise
  }

  /** Makes the pending changes the cause of the next start. */
  #next({ files, since }: Changes, { changed }: Cause, isSettled: boolean, settled: number): Cause {
    // Settings determine what the spare process has loaded.
    if ([...files].some((file) => isSetting(basename(file)))) this.#spare.drop()
    // The changes of a version that was overtaken are reported with its successor.
    const before = isSettled ? [] : (changed ?? [])
    const isFirst = this.#live === undefined && changed === undefined
    const all = [...new Set([...before, ...files])].sort()
    const isSame = String(all) === String(changed) && since - settled < soon && !all.some(isCode)
    this.#repeated = isSame ? this.#repeated + 1 : 0
    if (this.#repeated === 5) this.#supervision.report.repeated(all)
    this.#pending = undefined
    return { changed: isFirst ? undefined : all, since }
  }

  #spawn(): Version {
    const { launch, folder, env } = this.#supervision
    const child = this.#children.add(new Version(launch, folder, env, this.#kept.take))
    void child.ended.then((why) => this.#kept.ended(child.pid, saidOf(why)))
    return child
  }

  /** Starts a version that replaces the previous one, unless the next change comes first; resolves to whether it was not overtaken. */
  async #start(cause: Cause): Promise<boolean> {
    if (this.#isAlone) await this.#endLive()
    const child = this.#spare.take() ?? this.#spawn()
    const { report } = this.#supervision
    const silent = setTimeout(() => report.silent(silence, this.#live !== undefined), silence * 1000)
    try {
      return await this.#bringUp(child, cause)
    } finally {
      clearTimeout(silent)
    }
  }

  async #bringUp(child: Version, cause: Cause): Promise<boolean> {
    const { log, inspect, report } = this.#supervision
    child.give({
      framework: 'load',
      log,
      ...(inspect && { inspect: this.#live === undefined ? 'at once' : 'later' }),
      ...(this.#token !== undefined && { inspector: this.#token }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
    })
    const taken = this.#live === undefined ? [] : [child.taken]
    const outcome = await Promise.race([...taken, child.booted, this.#news()])
    if (outcome === 'change') {
      // A signal is forwarded to it, as to all.
      if (!this.#children.isStopping) await child.leave(0)
      return false
    }
    if (outcome === 'failed') return this.#giveUp(child)
    if (outcome.framework === 'taken') {
      await child.leave()
      this.#isAlone = true
      report.alone()
      return this.#start(cause)
    }
    await this.#endLive()
    return this.#open(child, cause)
  }

  /** Lets a version that has booted listen. */
  async #open(child: Version, { changed, since }: Cause): Promise<boolean> {
    const { port, report } = this.#supervision
    // A change waits until this version answers, unless one of its listen hooks never ends; a signal does not wait.
    const hung = pause(patience).then(() => this.#news())
    const ended = this.#end.then(() => 'change' as const)
    const result = this.#children.isStopping ? 'change' : await Promise.race([child.go(this.#kept.left()), hung, ended])
    if (result === 'change') {
      await this.#stop(child, 'SIGTERM')
      return false
    }
    if (result === 'failed') return this.#giveUp(child)
    this.#take(child)
    this.#failure = undefined
    const inspector = result.pages.find(({ what }) => what === 'inspector')
    if (inspector !== undefined) publishInspector(this.#supervision.folder, new URL(inspector.path, result.url))
    report.serving(result, Math.round(performance.now() - since), changed)
    if (port !== undefined && port !== 0 && result.port !== port) report.otherPort(port, result.port)
    child.give({ framework: 'shown' })
    return true
  }

  #take(child: Version): void {
    this.#live = child
    void child.ended.then((why) => {
      if (this.#live !== child) return
      this.#live = undefined
      if (!this.#children.isStopping) this.#supervision.report.ended(why)
    })
  }

  async #giveUp(child: Version): Promise<true> {
    const why = await child.leave(0)
    if (this.#children.isStopping) return true
    const { report } = this.#supervision
    const before = this.#failure
    const failure = child.failure
    const serves = this.#live !== undefined
    this.#failure = failure
    if (failure === undefined) report.notStarted(child.refusal ?? why, serves)
    else report.failed(isSameCrash(failure, before) ? failure : undefined, serves)
    return true
  }

  async #endLive(): Promise<void> {
    const before = this.#live
    // The version is no longer live, so its end does not need a report.
    this.#live = undefined
    if (before !== undefined) await this.#stop(before, 'SIGTERM')
  }

  async #stop(child: Version, signal: EndSignal): Promise<void> {
    const start = performance.now()
    child.stop(signal)
    await child.leave(patience)
    if (performance.now() - start >= patience) this.#supervision.report.forced(patience)
  }
}

/** Keeps one process that has loaded everything except the application, and will become the next version. */
function makeSpare(spawn: () => Version) {
  let spare: Version | undefined
  const take = () => {
    const child = spare
    spare = undefined
    return child
  }
  /** Ends the spare process, whose packages are outdated. */
  const drop = () => void take()?.kill()
  return {
    take,
    drop,
    /** Starts a spare process if there is none. */
    keep() {
      if (spare !== undefined) return
      const child = spawn()
      spare = child
      void child.unfit.then(() => spare === child && drop())
      void child.ended.then(() => spare === child && take())
    },
  }
}
