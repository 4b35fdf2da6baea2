import process from 'node:process'
import { RouteCollection, Server } from 'framework'
import { LocalStorageProvider, Storage } from 'framework/plugins/storage'

// Reads and writes in a folder that another process keeps swapping for a link to a folder outside; prints what came back, by its content.
/** @type {{ root: string, requests: number }} */
const { root, requests } = JSON.parse(process.argv[2] ?? '{}')
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
/** @type {Record<string, { mine: number, secret: number }>} */
const seen = {}
for (const [name, work] of Object.entries(works)) {
  const counts = { mine: 0, secret: 0 }
  seen[name] = counts
  const share = name === 'static' || name === 'file' ? requests : requests / 10
  let left = share
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      // Longer only if the folder was never there so far, however the two processes are scheduled.
      while (left-- > 0 || (counts.mine === 0 && left > -9 * share)) {
        const text = await work().catch(() => 'refused')
        if (text === 'mine') counts.mine++
        if (text.includes('secret')) counts.secret++
      }
    }),
  )
}
console.log(JSON.stringify(seen))
await server.close()
