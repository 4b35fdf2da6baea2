import { existsSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { RouteCollection, Server } from 'framework'
import { LocalStorageProvider, Storage } from 'framework/plugins/storage'

/**
 * Swaps the folder `sub` for a link to a folder outside, and back, as often as anything else happens: between any two steps of a request
 * it has changed. Returns what ends that, with the folder in its place.
 *
 * @param {string} root
 * @param {string} outside
 */
function keepSwapping(root, outside) {
  const [sub, kept] = [join(root, 'sub'), join(root, 'kept')]
  const tries = (/** @type {() => void} */ work) => {
    try {
      work()
      return true
    } catch {
      return false
    }
  }
  const states = [
    () => void (tries(() => renameSync(sub, kept)) && tries(() => symlinkSync(outside, sub))),
    () => void tries(() => unlinkSync(sub)),
    // A write that finds no folder makes one, at any time. A test that has failed removes the folders, while its run goes on.
    () => {
      while (existsSync(kept) && !tries(() => renameSync(kept, sub)))
        tries(() => rmSync(sub, { recursive: true, force: true }))
    },
  ]
  let goesOn = true
  const swapping = (async () => {
    for (let turn = 0; goesOn || turn % states.length !== 0; turn++) {
      states[turn % states.length]?.()
      // Now and then the folder stays for a moment: work of many steps would otherwise never find it.
      await (turn % 12 === 11 ? setTimeout(5) : setImmediate())
    }
  })()
  return () => {
    goesOn = false
    return swapping
  }
}

/**
 * Reads and writes in a folder that keeps being swapped for a link to a folder outside; returns what came back, by its content.
 *
 * @param {string} root
 * @param {string} requests
 * @param {string} [outside] If another process does not swap them already.
 */
export async function run(root, requests, outside) {
  const quiet = () => {}
  /** @type {any} */
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => logger }
  const server = new Server({
    logger,
    router: new RouteCollection(),
    gracefulShutdown: false,
    plugins: { static: { root } },
  })
  server.get('/sent', (_req, res) => res.file('sub/a.txt', { root }))
  const storage = new Storage({ disk: new LocalStorageProvider({ root }) })
  const listed = async () => {
    for await (const { size } of storage.list('sub/')) if (size === 6) return 'secret'
    return 'mine'
  }
  let made = 0
  /** @type {Record<string, () => Promise<string>>} */
  const works = {
    static: async () => (await server.inject.get('/sub/a.txt')).text(),
    file: async () => (await server.inject.get('/sent')).text(),
    read: () => storage.getObject('sub/a.txt', 'text'),
    list: listed,
    copy: async () => {
      const key = `copied-${made++ % 4}`
      await storage.copy('sub/a.txt', key)
      return storage.getObject(key, 'text')
    },
    write: async () => {
      const key = `sub/new/own-${made++ % 4}`
      await storage.putObject(key, 'mine', 'text/x-own')
      await storage.move(key, `${key}-moved`)
      await storage.deleteObject(`${key}-moved`)
      return 'mine'
    },
    remove: async () => {
      await storage.deleteObject('sub/theirs.txt')
      return 'mine'
    },
  }
  let judged = 0
  // Judges a path, and opens it some turns later.
  const careless = async () => {
    const path = join(root, 'sub/a.txt')
    if ((await realpath(path)) !== path) return 'refused'
    for (let turns = judged++ % 5; turns > 0; turns--) await setImmediate()
    return readFile(path, 'utf8')
  }
  /** @type {Record<string, { mine: number, secret: number }>} */
  const seen = {}
  const share = Number(requests)
  const endSwapping = outside === undefined ? undefined : keepSwapping(root, outside)
  for (const [name, work] of Object.entries({ careless, ...works })) {
    const counts = { mine: 0, secret: 0 }
    seen[name] = counts
    let left = share
    const patience = performance.now() + 20_000
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        // Longer only if the folder was never there so far, or never swapped in time: a thousand reads may see one swap only.
        const isOver = () => counts.mine > 0 && (work !== careless || counts.secret > 0)
        while (left-- > 0 || (!isOver() && performance.now() < patience)) {
          const text = await work().catch(() => 'refused')
          if (text === 'mine') counts.mine++
          if (text.includes('secret')) counts.secret++
        }
      }),
    )
  }
  await endSwapping?.()
  await server.close()
  return seen
}
