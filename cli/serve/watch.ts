import { type FSWatcher, statSync, watch } from 'node:fs'
import { safely } from '../../plugins/shared/values/safely.ts'
import { type Content, type Root, readContent } from '../project/sources.ts'

/** A burst of changes ends when nothing has arrived for this long; a formatter or a checkout writes many files. */
const quiet = 30
/** A burst that does not end is reported after this long. */
const longest = 500
/** The interval of polling instead of events. */
const pollInterval = 300

export interface Watching {
  /** Whether to poll every folder, for file systems without events: mounts in containers, network drives. */
  readonly poll: boolean
  /** Receives the absolute paths of the changed files. */
  changed(files: readonly string[]): void
  /** Called once when the system has no watches left; from then on, folders are polled. */
  exhausted(error: Error): void
}

interface Watched {
  readonly root: Root
  readonly folder: string
  content: Content
  watcher: FSWatcher | undefined
  /** The folder that the watcher belongs to; `undefined` while there is none. */
  identity: string | undefined
  /** By their paths. */
  readonly below: Map<string, Watched>
}

const nothing: Content = { files: new Map(), folders: new Set() }

/**
 * Tells a folder from its successor at the same path. Linux gives the number of a removed folder to the next one at once: after `git switch`, only
 * the time of its creation differs, or where the file system has none, that of its last change.
 */
const identityOf = (folder: string) =>
  safely(() => {
    const { dev, ino, birthtimeNs, ctimeNs } = statSync(folder, { bigint: true })
    return `${dev} ${ino} ${birthtimeNs || ctimeNs}`
  })

/**
 * Watches folders, each separately: the recursive watch of Node.js 20 on Linux loses folders that are created while it
 * is set up, and a library for this (chokidar 4: two packages, 195 kB) would be in every installation for a development
 * tool. An event only shows which folder to read again, so its type and a missing name do not matter: the
 * contents of the folder decide. Reading a folder of 100 files takes 2 ms.
 */
export function watchFiles(roots: readonly Root[], watching: Watching): () => void {
  const watch = new Watch(roots, watching)
  return () => watch.close()
}

class Watch {
  readonly #watching: Watching
  readonly #known = new Set<Watched>()
  readonly #dirty = new Set<Watched>()
  #timer: NodeJS.Timeout | undefined
  #since = 0
  #interval: NodeJS.Timeout | undefined

  constructor(roots: readonly Root[], watching: Watching) {
    this.#watching = watching
    for (const root of roots) this.#enter(root, root.folder, [])
    if (watching.poll) this.#startPolling()
  }

  close(): void {
    clearTimeout(this.#timer)
    clearInterval(this.#interval)
    for (const { watcher } of this.#known) watcher?.close()
    this.#known.clear()
  }

  #startPolling(): void {
    this.#interval ??= setInterval(() => {
      for (const one of this.#known) this.#dirty.add(one)
      this.#settle()
    }, pollInterval)
  }

  /** Watches a folder; again, if the watch belongs to a former folder of that path. */
  #follow(one: Watched): void {
    one.watcher?.close()
    one.watcher = undefined
    // Before it is watched: a folder that comes in between is watched twice rather than never.
    one.identity = identityOf(one.folder)
    if (this.#watching.poll) return
    const touched = () => this.#touched(one)
    try {
      one.watcher = watch(one.folder, touched)
      // The folder was removed, which its parent reports.
      one.watcher.on('error', touched)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (this.#interval === undefined && (code === 'ENOSPC' || code === 'EMFILE')) {
        this.#watching.exhausted(error as Error)
        this.#startPolling()
      }
    }
  }

  /** Adds a folder with all folders below it. It is watched before it is read: a change in between is seen twice rather than never. */
  #enter(root: Root, folder: string, found: string[]): Watched {
    const one: Watched = { root, folder, content: nothing, watcher: undefined, identity: undefined, below: new Map() }
    this.#known.add(one)
    this.#compare(one, found)
    return one
  }

  #leave(one: Watched, lost: string[]): void {
    this.#known.delete(one)
    one.watcher?.close()
    lost.push(...one.content.files.keys())
    for (const below of one.below.values()) this.#leave(below, lost)
  }

  #compare(one: Watched, differing: string[]): void {
    const { root, below, content: before } = one
    if (identityOf(one.folder) !== one.identity) this.#follow(one)
    const now = readContent(root, one.folder)
    one.content = now
    for (const [file, print] of now.files) if (before.files.get(file) !== print) differing.push(file)
    for (const file of before.files.keys()) if (!now.files.has(file)) differing.push(file)
    for (const [folder, watched] of below) {
      if (now.folders.has(folder)) continue
      below.delete(folder)
      this.#leave(watched, differing)
    }
    for (const folder of now.folders) {
      const watched = below.get(folder)
      if (watched === undefined) below.set(folder, this.#enter(root, folder, differing))
      // It was renamed away and back, or checked out again.
      else if (identityOf(folder) !== watched.identity) this.#compare(watched, differing)
    }
  }

  #settle(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const dirty = [...this.#dirty]
    this.#dirty.clear()
    const differing: string[] = []
    for (const one of dirty) if (this.#known.has(one)) this.#compare(one, differing)
    // No other folder reports the return of a root.
    for (const one of this.#known)
      if (one.identity === undefined && one.folder === one.root.folder) this.#touched(one, pollInterval)
    if (differing.length > 0) this.#watching.changed([...new Set(differing)].sort())
  }

  #touched(one: Watched, pause = quiet): void {
    if (this.#timer === undefined) this.#since = performance.now()
    this.#dirty.add(one)
    clearTimeout(this.#timer)
    const wait = Math.max(0, Math.min(pause, this.#since + longest - performance.now()))
    this.#timer = setTimeout(() => this.#settle(), wait)
  }
}
