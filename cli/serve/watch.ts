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

/**
 * Watches folders, each separately: the recursive watch of Node.js 20 on Linux loses folders that are created while it
 * is set up, and a library for this (chokidar 4: two packages, 195 kB) would be in every installation for a development
 * tool. An event only shows which folder to read again, so its type and a missing name do not matter: the
 * contents of the folder decide. Reading a folder of 100 files takes 2 ms.
 */
export function watchFiles(roots: readonly Root[], { poll, changed, exhausted }: Watching): () => void {
  const known = new Map<string, { readonly root: Root; content: Content; watcher: FSWatcher | undefined }>()
  const key = (root: Root, folder: string) => `${roots.indexOf(root)} ${folder}`
  const dirty = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let since = 0
  let interval: NodeJS.Timeout | undefined
  const look = () => {
    for (const one of known.keys()) dirty.add(one)
    settle()
  }
  const startPolling = () => {
    interval ??= setInterval(look, pollInterval)
  }

  const follow = (root: Root, folder: string) => {
    const id = key(root, folder)
    try {
      const watcher = watch(folder, () => touched(id))
      // The folder was removed, which its parent reports.
      watcher.on('error', () => touched(id))
      return watcher
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (interval === undefined && (code === 'ENOSPC' || code === 'EMFILE')) {
        exhausted(error as Error)
        startPolling()
      }
      return undefined
    }
  }

  /** Adds a folder with all folders below it. It is watched before it is read: a change in between is seen twice rather than never. */
  const enter = (root: Root, folder: string, found: string[]) => {
    const id = key(root, folder)
    if (known.has(id)) return
    const watcher = poll ? undefined : follow(root, folder)
    const content = readContent(root, folder)
    known.set(id, { root, content, watcher })
    found.push(...content.files.keys())
    for (const below of content.folders.keys()) enter(root, below, found)
  }

  const leave = (root: Root, folder: string, lost: string[]) => {
    const id = key(root, folder)
    const one = known.get(id)
    if (one === undefined) return
    known.delete(id)
    one.watcher?.close()
    lost.push(...one.content.files.keys())
    for (const below of one.content.folders.keys()) leave(root, below, lost)
  }

  /** For a folder that was renamed away and back, or checked out again: the watch belongs to the former folder. */
  const replace = (root: Root, folder: string, differing: string[]) => {
    const id = key(root, folder)
    const one = known.get(id)
    if (one === undefined) return
    one.watcher?.close()
    one.watcher = poll ? undefined : follow(root, folder)
    compare(id, differing)
  }

  const compare = (id: string, differing: string[]) => {
    const one = known.get(id)
    if (one === undefined) return
    const { root, content: before } = one
    const now = readContent(root, id.slice(id.indexOf(' ') + 1))
    one.content = now
    for (const [file, print] of now.files) if (before.files.get(file) !== print) differing.push(file)
    for (const file of before.files.keys()) if (!now.files.has(file)) differing.push(file)
    for (const folder of before.folders.keys()) if (!now.folders.has(folder)) leave(root, folder, differing)
    for (const [folder, number] of now.folders) {
      const numberBefore = before.folders.get(folder)
      if (numberBefore === undefined) enter(root, folder, differing)
      else if (numberBefore !== number) replace(root, folder, differing)
    }
  }

  const settle = () => {
    clearTimeout(timer)
    timer = undefined
    const ids = [...dirty]
    dirty.clear()
    const differing: string[] = []
    for (const id of ids) compare(id, differing)
    if (differing.length > 0) changed([...new Set(differing)].sort())
  }

  const touched = (id: string) => {
    if (timer === undefined) since = performance.now()
    dirty.add(id)
    clearTimeout(timer)
    const wait = Math.max(0, Math.min(quiet, since + longest - performance.now()))
    timer = setTimeout(settle, wait)
  }

  for (const root of roots) enter(root, root.folder, [])
  if (poll) startPolling()
  return () => {
    clearTimeout(timer)
    clearInterval(interval)
    for (const { watcher } of known.values()) watcher?.close()
    known.clear()
  }
}
