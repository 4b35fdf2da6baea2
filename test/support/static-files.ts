import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { RouteCollection, Server } from 'framework'
import { static as staticFiles } from 'framework/plugins/static'
import { memoryLogger } from './kernel.ts'

/** A string that no response may ever contain. */
export const secret = 'TOP-SECRET-CONTENT'

/** A folder with a root and, beside and above it, files that must not be served. */
export function makeTree(): { base: string; root: string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'test-static-')))
  const root = join(base, 'public')
  const files: Record<string, string> = {
    'secret.txt': secret,
    'public-secret/secret.txt': secret,
    'public/index.html': '<h1>home</h1>',
    'public/a.txt': 'hello world',
    'public/empty.txt': '',
    'public/style.css': 'a{}',
    'public/app.js': '1',
    'public/data.json': '{}',
    'public/pic.svg': '<svg/>',
    'public/font.woff': 'w',
    'public/binary': 'b',
    'public/with space.txt': 'space',
    'public/ünï – 日本.txt': 'unicode',
    'public/100%.txt': 'percent',
    'public/a+b&c.txt': 'signs',
    'public/about.html': 'about',
    'public/docs/index.html': 'docs',
    'public/docs/guide.txt': 'guide',
    'public/bare/file.txt': 'x',
    'public/.env': secret,
    'public/.git/config': secret,
    'public/docs/.hidden/x.txt': secret,
    'public/admin/report.txt': 'report',
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), content)
  }
  symlinkSync(join(base, 'secret.txt'), join(root, 'link-out.txt'))
  symlinkSync(base, join(root, 'folder-out'))
  symlinkSync('../public-secret', join(root, 'sibling-out'))
  symlinkSync('a.txt', join(root, 'link-in.txt'))
  symlinkSync('.env', join(root, 'link-to-dotfile.txt'))
  symlinkSync('nowhere', join(root, 'dangling.txt'))
  symlinkSync('loop', join(root, 'loop'))
  return { base, root }
}

/** Servers and trees that are removed after each test. */
export function makeStatic(afterEach: (clean: () => Promise<void>) => void) {
  const servers: Server[] = []
  const trees: string[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close().catch(() => {})
    for (const base of trees.splice(0)) rmSync(base, { recursive: true, force: true })
  })

  const makeServer = (options: object = {}) => {
    const tree = makeTree()
    trees.push(tree.base)
    const logger = memoryLogger()
    const server = new Server({
      plugins: [staticFiles({ root: tree.root, ...options })],
      router: new RouteCollection(),
      logger,
      port: 0,
      host: '127.0.0.1',
      gracefulShutdown: false,
      drainWindow: 0,
      closeTimeout: 500,
    }) as Server
    servers.push(server)
    const get = (path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
      server.inject.request(method, path, { headers })
    return { server, get, log: logger.entries, ...tree }
  }
  return { makeServer }
}
