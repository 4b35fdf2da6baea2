import { type FSWatcher, watch } from 'node:fs'
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
  content: Content
  watcher: FSWatcher | undefined
}

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
  readonly #roots: readonly Root[]
  readonly #watching: Watching
  readonly #known = new Map<string, Watched>()
  readonly #dirty = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #since = 0
  #interval: NodeJS.Timeout | undefined

  constructor(roots: readonly Root[], watching: Watching) {
    this.#roots = roots
    this.#watching = watching
    for (const root of roots) this.#enter(root, root.folder, [])
    if (watching.poll) this.#startPolling()
  }

  close(): void {
    clearTimeout(this.#timer)
    clearInterval(this.#interval)
    for (const { watcher } of this.#known.values()) watcher?.close()
    this.#known.clear()
  }

  #key(root: Root, folder: string): string {
    return `${this.#roots.indexOf(root)} ${folder}`
  }

  #startPolling(): void {
    this.#interval ??= setInterval(() => {
      for (const one of this.#known.keys()) this.#dirty.add(one)
      this.#settle()
    }, pollInterval)
  }

  #follow(root: Root, folder: string): FSWatcher | undefined {
    const touched = () => this.#touched(this.#key(root, folder))
    try {
      const watcher = watch(folder, touched)
      // The folder was removed, which its parent reports.
      watcher.on('error', touched)
      return watcher
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (this.#interval === undefined && (code === 'ENOSPC' || code === 'EMFILE')) {
        this.#watching.exhausted(error as Error)
        this.#startPolling()
      }
      return undefined
    }
  }

  /** Adds a folder with all folders below it. It is watched before it is read: a change in between is seen twice rather than never. */
  #enter(root: Root, folder: string, found: string[]): void {
    const id = this.#key(root, folder)
    if (this.#known.has(id)) return
    const watcher = this.#watching.poll ? undefined : this.#follow(root, folder)
    const content = readContent(root, folder)
    this.#known.set(id, { root, content, watcher })
    found.push(...content.files.keys())
    for (const below of content.folders.keys()) this.#enter(root, below, found)
  }

  #leave(root: Root, folder: string, lost: string[]): void {
    const id = this.#key(root, folder)
    const one = this.#known.get(id)
    if (one === undefined) return
    this.#known.delete(id)
    one.watcher?.close()
    lost.push(...one.content.files.keys())
    for (const below of one.content.folders.keys()) this.#leave(root, below, lost)
  }

  /** For a folder that was renamed away and back, or checked out again: the watch belongs to the former folder. */
  #replace(root: Root, folder: string, differing: string[]): void {
    const id = this.#key(root, folder)
    const one = this.#known.get(id)
    if (one === undefined) return
    one.watcher?.close()
    one.watcher = this.#watching.poll ? undefined : this.#follow(root, folder)
    this.#compare(id, differing)
  }

  #compare(id: string, differing: string[]): void {
    const one = this.#known.get(id)
    if (one === undefined) return
    const { root, content: before } = one
    const now = readContent(root, id.slice(id.indexOf(' ') + 1))
    one.content = now
    for (const [file, print] of now.files) if (before.files.get(file) !== print) differing.push(file)
    for (const file of before.files.keys()) if (!now.files.has(file)) differing.push(file)
    for (const folder of before.folders.keys()) if (!now.folders.has(folder)) this.#leave(root, folder, differing)
    for (const [folder, number] of now.folders) {
      const numberBefore = before.folders.get(folder)
      if (numberBefore === undefined) this.#enter(root, folder, differing)
      else if (numberBefore !== number) this.#replace(root, folder, differing)
    }
  }

  #settle(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const ids = [...this.#dirty]
    this.#dirty.clear()
    const differing: string[] = []
    for (const id of ids) this.#compare(id, differing)
    if (differing.length > 0) this.#watching.changed([...new Set(differing)].sort())
  }

  #touched(id: string): void {
    if (this.#timer === undefined) this.#since = performance.now()
    this.#dirty.add(id)
    clearTimeout(this.#timer)
    const wait = Math.max(0, Math.min(quiet, this.#since + longest - performance.now()))
    this.#timer = setTimeout(() => this.#settle(), wait)
  }
}
