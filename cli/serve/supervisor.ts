import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isInTime } from '../../kernel/support/within.ts'
import type { LogForm } from '../../plugins/shared/terminal/form.ts'
import type { EndSignal } from '../process/ending.ts'
import { isCode, isSetting } from '../project/sources.ts'
import { type Child, type Failure, startChild } from './child.ts'
import { makeKeptStores } from './kept-stores.ts'
import { type Crash, isSameCrash } from './protocol.ts'
import type { Report } from './report.ts'
import type { Launch } from './runtime.ts'
import { makeSpare } from './spare.ts'

/** Milliseconds for a version to close; its own `closeTimeout` is at most half of it. */
const patience = 2000
/** Seconds after which an application that neither listens nor ends is reported. */
const silence = 30
/** Milliseconds before the next process loads: the new version gets the processor first. */
const rest = 300
/** Milliseconds within which a developer cannot have seen a version and changed a file. */
const soon = 500
/** Milliseconds in which a version that has failed may end by itself. */
const last = 200

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

/**
 * Runs an application and restarts it after each change, until a signal ends it; resolves with the exit code.
 *
 * A new version boots while the previous one still answers, and takes over its port when that one has closed: a version that does not
 * boot never gets that far. So two versions never listen, or run jobs, at the same time. A spare process, which has not yet loaded any
 * part of the application, saves most of the time of a start: for a small application on Node.js 20, 0.7 s become 0.2.
 */
export async function supervise({
  launch,
  folder,
  env,
  inspect,
  inspector,
  port,
  report,
  log,
  watch,
}: Supervision): Promise<number> {
  /** The version that listens. */
  let live: Child | undefined
  /** All running processes: the live version, one that boots, one that closes, and the spare one. */
  const children = new Set<Child>()
  let pending: { readonly files: Set<string>; readonly since: number } | undefined
  let stopping = false
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  /** Resolves with the next change or signal; immediately if there already is one. */
  const news = () =>
    new Promise<'change'>((resolve) => {
      waiting.add(() => resolve('change'))
      if (pending !== undefined || stopping) wake()
    })

  const stop = watch((files) => {
    pending ??= { files: new Set(), since: performance.now() }
    for (const file of files) pending.files.add(file)
    wake()
  })
  const end = new Promise<EndSignal>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        // The second signal ends everything immediately.
        if (stopping) {
          for (const child of children) child.kill()
          process.exit(130)
        }
        stopping = true
        resolve(signal)
        wake()
      })
    }
  })

  const stopChild = async (child: Child, signal: EndSignal) => {
    const start = performance.now()
    await child.stop(signal, patience)
    if (performance.now() - start >= patience) report.forced(patience)
  }

  const take = (child: Child) => {
    live = child
    void child.ended.then((why) => {
      if (live !== child) return
      live = undefined
      if (!stopping) report.ended(why)
    })
  }

  /** Ends a version that does not have any resources yet. */
  const drop = async (child: Child) => {
    child.kill()
    await child.ended
  }

  /** Ends a version that has failed; most end by themselves because of the error, with its stack. */
  const leave = async (child: Child) => {
    if (!(await isInTime(child.ended, last))) await drop(child)
  }

  // One token for all versions: an open page continues with the next one.
  const token = inspector ? randomBytes(24).toString('base64url') : undefined
  const kept = makeKeptStores()
  const spawn = () => {
    const child = startChild(launch, { folder, env, kept: kept.take })
    children.add(child)
    void child.ended.then(() => children.delete(child))
    return child
  }
  const spare = makeSpare(spawn)
  const keepSpare = () => {
    // Without its first file, it would end with a confusing message from the runtime.
    if (!stopping && existsSync(launch.preload)) spare.keep()
  }

  const endLive = async () => {
    if (live === undefined) return
    const before = live
    // The version is no longer live, so its end does not need a report.
    live = undefined
    await stopChild(before, 'SIGTERM')
  }
  /** The failure of the previous version, which was shown. */
  let failure: Crash | undefined
  /** Whether a version opens a port of its own while it is loaded, so that the previous one must end first. */
  let isAlone = false

  /** Starts a version that replaces the previous one, unless the next change comes first. */
  const start = async (changed: readonly string[] | undefined, since: number): Promise<boolean> => {
    if (isAlone) await endLive()
    const child = spare.take() ?? spawn()
    const silent = setTimeout(() => report.silent(silence, live !== undefined), silence * 1000)
    try {
      return await bringUp(child, changed, since)
    } finally {
      clearTimeout(silent)
    }
  }

  const bringUp = async (child: Child, changed: readonly string[] | undefined, since: number): Promise<boolean> => {
    child.load({
      log,
      ...(inspect && { inspect: live === undefined ? 'at once' : 'later' }),
      ...(token !== undefined && { inspector: token }),
      ...(failure !== undefined && { failure }),
    })
    const outcome = await Promise.race([...(live === undefined ? [] : [child.taken]), child.booted, news()])
    if (outcome === 'change') {
      await drop(child)
      return false
    }
    if (outcome.kind === 'taken') {
      await leave(child)
      isAlone = true
      report.alone()
      return start(changed, since)
    }
    if (outcome.kind !== 'booted') return giveUp(child, outcome)
    await endLive()
    // A change waits until this version answers, unless one of its listen hooks never ends; a signal does not wait.
    const hung = pause(patience).then(news)
    const result = stopping
      ? 'change'
      : await Promise.race([child.go(kept.left()), hung, end.then(() => 'change' as const)])
    if (result === 'change') {
      await stopChild(child, 'SIGTERM')
      return false
    }
    if (result.kind !== 'listening') return giveUp(child, result)
    take(child)
    failure = undefined
    report.serving(result.news, Math.round(performance.now() - since), changed)
    if (port !== undefined && port !== 0 && result.news.port !== port) report.otherPort(port, result.news.port)
    child.shown()
    return true
  }

  const giveUp = async (child: Child, why: Failure): Promise<true> => {
    // Only a running process needs the message.
    if (why.kind === 'failed') await leave(child)
    if (stopping) return true
    const before = failure
    failure = child.failure
    if (failure === undefined) report.notStarted(why.kind === 'failed' ? why.message : why, live !== undefined)
    else report.failed(isSameCrash(failure, before) ? failure : undefined, live !== undefined)
    return true
  }

  let since = performance.now()
  let changed: readonly string[] | undefined
  /** How often in succession the same files have changed as soon as a version was running. */
  let repeated = 0
  while (!stopping) {
    const isSettled = await start(changed, since)
    const settled = performance.now()
    const rested = setTimeout(keepSpare, rest)
    await news()
    clearTimeout(rested)
    if (pending === undefined) continue
    // Settings determine what the spare process has loaded.
    if ([...pending.files].some((file) => isSetting(basename(file)))) spare.drop()
    // The changes of a version that was overtaken are reported with its successor.
    const before = isSettled ? [] : (changed ?? [])
    const isFirst = live === undefined && changed === undefined
    const all = [...new Set([...before, ...pending.files])].sort()
    repeated = String(all) === String(changed) && pending.since - settled < soon && !all.some(isCode) ? repeated + 1 : 0
    if (repeated === 5) report.repeated(all)
    if (!isFirst) changed = all
    since = pending.since
    pending = undefined
  }
  stop()
  spare.drop()
  const signal = await end
  await Promise.all([...children].map((child) => stopChild(child, signal)))
  return 0
}
