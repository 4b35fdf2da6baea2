import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { beforeAll, describe, expect, test } from 'vitest'
import { runtimeBinary } from './runtimes/run.mjs'
import { makeProduction, makeProject, managers, scratch, type, walk } from './support/newcomer.ts'
import { lean } from './support/package/lean.ts'
import { loadedBy, packageOf } from './support/package/loaded-packages.ts'
import { execOutput, filesOf, root } from './support/package/tarball.ts'
import { runTsc } from './support/typescript.ts'

interface Manifest {
  version: string
  dependencies: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
const peers = Object.keys(manifest.peerDependencies ?? {})

/** Too heavy for a server that does not use them: none may be loaded by the main entry point, required or optional. */
const heavy = [
  'ajv',
  'fast-json-stringify',
  'graphql',
  'bullmq',
  'ioredis',
  'pg',
  'pg-boss',
  'mqtt',
  'nodemailer',
  'node-schedule',
  'esbuild',
  'zod',
  ...peers,
]
const isHeavy = (name: string) => heavy.includes(name) || /^@(aws-sdk|azure|smithy)\//.test(name)

const hello = `
import { router, Server } from 'framework'

const server = new Server({ port: 0, host: '127.0.0.1' })
router.get('/hello/:name', (req) => ({ hello: req.params.name }))
const { port } = await server.listen()
const response = await fetch(\`http://127.0.0.1:\${port}/hello/world\`)
console.log(JSON.stringify({ status: response.status, body: await response.json() }))
await server.close()
`

/** What a server without schemas, log lines and further plugins loads. */
const leanPackages = [
  'framework',
  'avvio',
  '@fastify/error',
  'fastq',
  'reusify',
  'find-my-way',
  'fast-deep-equal',
  'fast-decode-uri-component',
  'fast-querystring',
  'safe-regex2',
  'ret',
  'content-type',
  'cookie',
  'secure-json-parse',
  // Imported and not loaded by name, so that a bundled file contains it; 1 ms.
  'helmet',
]

const queues = `
import * as framework from 'framework'

const { defineQueueConfiguration, memoryQueue, QueueService } = framework
defineQueueConfiguration({ bullmq: {}, pgboss: {}, sqs: {} })
const lines = []
for (const kind of ['bullmqQueue', 'pgbossQueue', 'sqsQueue']) {
  await framework[kind]('a').publish(1).catch(({ code, message }) => lines.push(code + ' ' + message))
}
const memory = memoryQueue('a')
await memory.subscribe((payload) => lines.push('memory ' + payload))
const handle = await framework.bullmqQueue('a').subscribe(() => {})
await QueueService.run().catch(({ code }) => lines.push(code + ' at the start'))
await handle.unsubscribe()
await QueueService.run()
await memory.publish(1)
await memory.drained()
console.log(JSON.stringify(lines))
`

const emails = `
import { Mailer, memoryTransport, MustacheAdapter } from 'framework'

const from = 'a@example.org'
const templateAdapter = new MustacheAdapter()
const providers = { memory: { transporter: memoryTransport(), templateAdapter, from }, smtp: { transporter: 'smtp://127.0.0.1:9', from } }
const mailer = new Mailer(providers, { defaultProvider: 'memory' })
const lines = []
const fails = ({ code, message }) => lines.push(code + ' ' + message)
const hello = (mail) => mail.to('b@example.org').subject('hello')
await mailer.use('smtp').send(hello).catch(fails)
await mailer.send((mail) => hello(mail).template('a', {})).catch(fails)
await mailer.send(hello)
await mailer.close()
console.log(JSON.stringify([...lines, providers.memory.transporter.sent.length]))
`

const [npm] = managers
/** What a newcomer has before the first change. */
let project: string
/** The package that is in it. */
let tarball: string
/** The same without what only development needs, and with the types of Node.js. */
let consumer: string

beforeAll(async () => {
  project = await makeProject(npm!)
  const [file] = readdirSync(join(project, 'vendor'))
  tarball = join(project, 'vendor', file!)
  consumer = join(scratch, 'consumer')
  await makeProduction(project, consumer)
  mkdirSync(join(consumer, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(root, 'node_modules/@types/node'), join(consumer, 'node_modules/@types/node'))
})

test('npm run new -- --help shows the options and creates nothing', async () => {
  const folder = join(scratch, 'help')
  mkdirSync(folder)
  const said = await type(`${process.execPath} ${join(root, 'new.mjs')} --help`, folder)
  expect(said).toContain('Usage: framework init [folder] [options]')
  expect(readdirSync(folder)).toEqual([])
})

// newcomer.long.test.ts has Bun and Deno, too.
test('a newcomer gets from a clone to a server in production with npm', () => walk(npm!, project, false))

test('no range of versions is open at its end', () => {
  const ranges = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
  // Each part of `^1.2.0 || >=3 <5` on its own.
  const open = ranges.filter(([, range]) => range.split('||').some((part) => !/^\s*[\^~]|<\d/.test(part)))
  expect(open).toEqual([])
})

describe('the tarball', () => {
  test('publint has nothing to say, not even a suggestion', async () => {
    const bytes = readFileSync(tarball)
    const content = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
    const { messages, pkg } = await publint({ pack: { tarball: content }, strict: true, level: 'suggestion' })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  test('every plugin has code and types', () => {
    // package.long.test.ts asks a tool for packages how each resolves.
    const files = filesOf(tarball)
    const code = files.filter((file) => /^dist\/plugins\/\w+\/index\.js$/.test(file))
    expect(code.length).toBeGreaterThan(35)
    expect(code.filter((file) => !files.includes(file.replace(/js$/, 'd.ts')))).toEqual([])
  })

  test('its types need no optional package, which a program without it could not resolve', () => {
    const folder = join(consumer, 'node_modules/framework')
    const types = listFiles(folder).filter((file) => /^dist\/.*\.d\.ts$/.test(file))
    const needed = types.flatMap((file) => {
      const code = readFileSync(join(folder, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
      const found = [...code.matchAll(/(?:\bfrom |\bimport\()["']([^"']+)["']/g)].map(([, name]) => name!)
      return found
        .filter((name) => peers.some((peer) => name === peer || name.startsWith(`${peer}/`)))
        .map((name) => `${file}: ${name}`)
    })
    expect(types.length).toBeGreaterThan(100)
    expect(needed).toEqual([])
  })

  test('its code is in ASCII, which V8 keeps in half of the memory', () => {
    const folder = join(consumer, 'node_modules/framework')
    const code = listFiles(folder).filter((file) => /^dist\/.*\.js$/.test(file))
    expect(code.filter((file) => /[^\0-\x7f]/.test(readFileSync(join(folder, file), 'utf8')))).toEqual([])
  })

  test('it holds the documentation for users, no source, no test and no map', () => {
    const folder = join(consumer, 'node_modules/framework')
    const files = listFiles(folder)
    const pages = /^(package\.json|compose\.yaml|LICENSE|(README|CHANGELOG|SECURITY)\.md)$/
    expect(files.filter((file) => !/^(dist|docs)\//.test(file) && !pages.test(file))).toEqual([])
    // A map names sources that no project has; runtimes read one for each file that says so.
    const code = files.filter((file) => file.endsWith('.js'))
    const mapped = code.filter((file) => readFileSync(join(folder, file), 'utf8').includes('\n//# sourceMappingURL='))
    expect([files.filter((file) => file.endsWith('.map') || file === 'docs/design.md'), mapped]).toEqual([[], []])
    const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    expect(sources.filter((file) => !file.startsWith('docs/examples/'))).toEqual([])
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'docs/getting-started.md', 'docs/examples/demo/main.ts']))
    // Every project from a clone has it in its repository.
    expect(statSync(tarball).size).toBeLessThan(1_600_000)
  })

  test('every link of its pages leads to a file in it', () => {
    const folder = join(consumer, 'node_modules/framework')
    const pages = listFiles(folder).filter((file) => file.endsWith('.md'))
    const dead = pages.flatMap((page) =>
      [
        ...readFileSync(join(folder, page), 'utf8')
          .replaceAll(/`[^`\n]+`/g, '')
          .matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g),
      ]
        .map(([, link = '']) => link)
        .filter((link) => !/^\w+:/.test(link) && !existsSync(join(folder, dirname(page), link)))
        .map((link) => `${page}: ${link}`),
    )
    expect(dead).toEqual([])
  })
})

describe('a project that installs nothing else', () => {
  test('has fewer than 50 packages and 19 MB of them', () => {
    const folder = join(consumer, 'node_modules')
    const { packages } = JSON.parse(readFileSync(join(folder, '.package-lock.json'), 'utf8')) as { packages: object }
    expect(Object.keys(packages).length).toBeLessThan(50)
    // As `du` counts: whole blocks.
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    // Without the types of Node.js, which are a link to those of this repository.
    const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('@types'))
    const sizes = files.map((entry) => Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 4096) * 4096)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(19 * 1024 * 1024)
  })

  test('has no package whose licence asks for more than to be named', () => {
    const folder = join(consumer, 'node_modules')
    const { packages } = JSON.parse(readFileSync(join(folder, '.package-lock.json'), 'utf8')) as {
      packages: Record<string, { license?: string }>
    }
    const permissive = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'BlueOak-1.0.0']
    const others = Object.entries(packages).filter(([, { license }]) => !permissive.includes(license ?? ''))
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
  })

  test('has every package that the main entry point loads, and none of the optional ones', async () => {
    const { packages, exports } = await loadedBy('framework', consumer)
    expect(exports).toEqual(expect.arrayContaining(['Server', 'router', 'definePlugin']))
    expect(packages.filter(isHeavy)).toEqual([])
  })

  test('answers without a schema by these packages alone', async () => {
    writeFileSync(join(consumer, 'lean.mjs'), lean)
    const { packages } = await loadedBy(pathToFileURL(join(consumer, 'lean.mjs')).href, consumer)
    expect(packages.filter((name) => !leanPackages.includes(name))).toEqual([])
  })

  // package.long.test.ts asks Node.js 22 and 24.
  test('responds without loading fetch and HTTPS on Node.js 26', async () => {
    writeFileSync(join(consumer, 'lean.mjs'), lean)
    const loaded = await execOutput(runtimeBinary('node26')!, ['lean.mjs'], consumer)
    expect(JSON.parse(loaded)).toEqual([])
  })

  test('imports no package of CommonJS, whose source Node.js would search for exports at each start', () => {
    const code = ['start', 'shared', 'kernel', 'main'].map((name) =>
      readFileSync(join(consumer, `node_modules/framework/dist/chunks/${name}.js`), 'utf8'),
    )
    const imported = code.flatMap((text) =>
      [...text.matchAll(/^import .*? from "([^.][^"]*)";/gm)].map(([, name]) => name),
    )
    expect(imported.filter((name) => !name!.startsWith('node:'))).toEqual(['helmet'])
  })

  test('has contracts, which load no package and nothing of the server', async () => {
    const { packages, exports, urls } = await loadedBy('framework/contract', consumer)
    expect([packages, exports.sort()]).toEqual([['framework'], ['contractClient', 'defineContract']])
    const own = urls.filter((url) => url.includes('/node_modules/'))
    expect(own.filter((url) => !/dist\/(plugins\/contract\/index|chunks\/contract)\.js$/.test(url))).toEqual([])
  })

  test('runs a server', async () => {
    writeFileSync(join(consumer, 'hello.mjs'), hello)
    const output = await execOutput(process.execPath, ['hello.mjs'], consumer)
    expect(JSON.parse(output.trim().split('\n').at(-1)!)).toEqual({ status: 200, body: { hello: 'world' } })
  })

  test('serves the script and the style of the inspector', async () => {
    writeFileSync(join(consumer, 'inspected.mjs'), inspected)
    const output = JSON.parse(await execOutput(process.execPath, ['inspected.mjs'], consumer)) as string[]
    expect(output).toEqual([expect.stringContaining('new EventSource('), expect.stringContaining('.fall{')])
  })

  test('learns from the error which package a queue needs, and has queues in memory without any', async () => {
    writeFileSync(join(consumer, 'queues.mjs'), queues)
    const output = JSON.parse(await execOutput(process.execPath, ['queues.mjs'], consumer)) as string[]
    expect(output).toEqual([
      expect.stringMatching(/^PeerMissingError .*npm install bullmq@6 ioredis@6$/),
      expect.stringMatching(/^PeerMissingError .*npm install pg-boss@12$/),
      expect.stringMatching(/^PeerMissingError .*npm install @aws-sdk\/client-sqs@3$/),
      'PeerMissingError at the start',
      'memory 1',
    ])
  })

  test('learns from the error which package an email needs, and keeps emails in memory without any', async () => {
    writeFileSync(join(consumer, 'emails.mjs'), emails)
    expect(JSON.parse(await execOutput(process.execPath, ['emails.mjs'], consumer))).toEqual([
      expect.stringMatching(/^PeerMissingError .*npm install nodemailer@10$/),
      expect.stringMatching(/^PeerMissingError .*npm install mustache@4$/),
      1,
    ])
  })

  test('has the command line, which needs no optional package to start', async () => {
    const output = await execOutput(join(consumer, 'node_modules/.bin/framework'), ['list'], consumer)
    // For a linked folder: there only the build makes it executable.
    accessSync(join(root, 'dist/cli/index.js'), constants.X_OK)
    expect(output).toMatch(/^ {2}generate-sdk +\S/m)
    writeFileSync(join(consumer, 'server.mjs'), `${hello.split('const { port }')[0]}export { server }\n`)
    const client = await execOutput(
      join(consumer, 'node_modules/.bin/framework'),
      ['generate-sdk', '--dry-run', '--entry', 'server.mjs'],
      consumer,
    )
    expect(client).toContain('byName(name: string): {')
  })

  test('lists its commands with little of the framework and without any package', () => {
    const dist = join(consumer, 'node_modules/framework/dist')
    const read = new Set<string>()
    const packages: string[] = []
    const add = (file: string) => {
      if (read.has(file)) return
      read.add(file)
      for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*["']([^'"]+)["']/gm)) {
        if (from.startsWith('.')) add(join(dirname(file), from))
        else if (!from.startsWith('node:')) packages.push(from)
      }
    }
    for (const file of ['cli/index', 'chunks/list', 'chunks/run-command']) add(join(dist, `${file}.js`))
    expect(packages).toEqual([])
    expect([...read].reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(100_000)
  })

  test('learns from the error which package the command line needs for TypeScript, where the runtime lacks it', async () => {
    writeFileSync(join(consumer, 'server.ts'), `${hello.split('const { port }')[0]}export { server }\n`)
    const bin = join(consumer, 'node_modules/.bin/framework')
    // The command runs on the first Node.js of the PATH.
    const hasTypes = await execOutput('node', ['-p', 'Boolean(process.features.typescript)'], consumer)
    const client = execOutput(bin, ['generate-sdk', '--dry-run', '--entry', 'server.ts'], consumer)
    if (hasTypes === 'true') expect(await client).toContain('byName(name: string): {')
    else await expect(client).rejects.toThrow('npm install --save-dev esbuild')
  })

  test.each([
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ])('compiles strictly under module resolution %s', (moduleResolution, module) => {
    writeFileSync(join(consumer, 'hello.ts'), hello)
    writeFileSync(join(consumer, 'typed.ts'), typed)
    const doors = filesOf(tarball).flatMap((file) => /^dist\/(plugins\/\w+)\/index\.d\.ts$/.exec(file)?.[1] ?? [])
    const more = ['contract', 'env', 'kernel', 'plugins', 'testing', 'testing/contracts']
    const imports = [...more, ...doors].map((door, i) => `export * as e${i} from 'framework/${door}'\n`)
    writeFileSync(join(consumer, 'doors.ts'), imports.join(''))
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,esnext.disposable,dom,dom.iterable']
    const { output } = runTsc(
      [
        ...options,
        '--types',
        'node',
        '--module',
        module,
        '--moduleResolution',
        moduleResolution,
        'hello.ts',
        'typed.ts',
        'doors.ts',
      ],
      consumer,
    )
    expect(output).toBe('')
  })
})

describe('a project that has the optional packages', () => {
  test('does not load them with the main entry point', async () => {
    const { packages, urls } = await loadedBy(pathToFileURL(join(root, 'dist/index.js')).href, scratch)
    expect(urls.some((url) => url.endsWith('/dist/chunks/kernel.js'))).toBe(true)
    expect(packages.filter(isHeavy)).toEqual([])
  })

  test('the recorder sees packages that are imported and packages that are required', async () => {
    const entry = join(scratch, 'entry.mjs')
    const at = (name: string) => JSON.stringify(join(root, 'node_modules', name))
    writeFileSync(
      entry,
      `import { createRequire } from 'node:module'
       const require = createRequire(${JSON.stringify(join(root, 'package.json'))})
       require(${at('find-my-way')})
       await import(${JSON.stringify(pathToFileURL(join(root, 'node_modules/fast-querystring/lib/index.js')).href)})`,
    )
    const { packages } = await loadedBy(pathToFileURL(entry).href, scratch)
    expect(packages).toEqual(expect.arrayContaining(['find-my-way', 'fast-querystring', 'fast-decode-uri-component']))
    expect(packageOf('file:///a/node_modules/b/node_modules/@c/d/e.js')).toBe('@c/d')
  })
})

test('optional packages are optional', () => {
  expect(peers.filter((name) => manifest.peerDependenciesMeta?.[name]?.optional !== true)).toEqual([])
  expect(peers.filter((name) => name in manifest.dependencies)).toEqual([])
})

/** What plugins merge into the kernel's interfaces arrives through the main entry point alone. */
const typed = `
import { cache, controller, definePlugin, get, type PolicyManager, router, Server } from 'framework'

declare module 'framework' {
  interface SessionData { count: number }
  interface RequestContext { tenant: string }
}
declare const manager: PolicyManager<{ books: { read: () => boolean } }>
const Text = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const
router.post('/typed/:id', { body: Text, responses: { 200: Text }, log: false }, (req, res) => {
  // @ts-expect-error a number is not text
  res.ok({ a: 5 })
  return res.ok({ a: req.body.a + req.params.id })
})
const options = {
  cache: { ttl: 5 }, compress: false, helmet: false, rateLimit: { limit: 5 }, timeout: 50,
  policy: { manager, scope: 'books', handler: 'read' },
} as const
router.get('/options', options, (req, res) => {
  const seen: [number | undefined, string | undefined, string] = [req.session.count, req.cookies.a, req.context.tenant]
  res.cookie('a', 'b', { maxAge: 5 })
  return seen
})
definePlugin({ name: 'client', reaches: () => ['Redis at redis.test'], runs: () => ['job nightly'] })
router.put('/upload', { upload: { maxFiles: 2 } }, (req) => req.files.map(({ filename, size }) => filename + size))
new Server({
  plugins: {
    cache: true, compression: { threshold: 5 }, cookie: { secret: 's' }, cors: { origin: 'http://a.test', maxAge: 5 }, helmet: true,
    methodOverride: true, rateLimit: { limit: 5, key: (req) => req.ip }, requestContext: { tenant: (req) => req.id },
    session: { secret: ['a', 'b'] }, static: { root: '.' }, timeout: { ms: 5 }, trustProxy: { trustedProxies: 1 }, upload: true,
  },
})
`

const inspected = `
globalThis[Symbol.for('framework.inspector')] = { token: 'known' }
const { Server } = await import('framework')
const server = new Server({ plugins: { inspector: true } })
const read = async (file) =>
  (await server.inject.get('/_inspector/' + file, { headers: { host: 'localhost', cookie: 'inspector=known' } })).text()
console.log(JSON.stringify([await read('page.js'), await read('page.css')]))
await server.close()
`

function listFiles(folder: string, prefix = ''): string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .flatMap((entry) => {
      const path = prefix + entry.name
      return entry.isDirectory() ? listFiles(folder, `${path}/`) : [path]
    })
}
