import { execFile } from 'node:child_process'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FakeS3, startFakeS3 } from '../support/fake-s3.ts'
import { commandOf, targets } from './targets.ts'

const run = promisify(execFile)
const total = 2_000_000
let fake: FakeS3

beforeEach(async () => {
  fake = await startFakeS3()
  const endless = new Set<Socket>()
  fake.answer = (req, res) => {
    const how = new URL(req.url!, fake.url).pathname.split('/').at(-1)
    if (how === 'open') return void res.end(String([...endless].filter((socket) => !socket.destroyed).length))
    if (how === 'refused') return void res.destroy()
    if (how === 'silent') return
    if (how === 'error') return void res.writeHead(500).end()
    const head = { 'content-length': total, etag: '"x"', 'last-modified': new Date().toUTCString() }
    res.writeHead(200, head)
    if (how === 'endless') endless.add(req.socket)
    res.write(Buffer.alloc(total / 2), () => {
      if (how === 'reset') setTimeout(() => res.socket?.resetAndDestroy(), 50)
      if (how === 'short') setTimeout(() => res.socket?.end(), 50)
    })
  }
})
afterEach(() => fake.stop())

const failed = ['StorageUnavailableError', 'StorageUnavailableError']
const ways = ['refused', 'silent', 'reset', 'short', 'half', 'error']
const expected = Object.fromEntries(['s3', 'azure'].flatMap((kind) => ways.map((way) => [`${kind} ${way}`, failed])))

// Which server answers requests does not matter here.
test.each(targets.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const))(
  'a service that fails while an object is read, on %s',
  async (_name, target) => {
    const [command, ...args] = commandOf(target)
    const script = join(import.meta.dirname, 'storage-outage.mjs')
    const options = {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, NODE_OPTIONS: '' },
      timeout: 80_000,
    }
    const { stdout } = await run(command!, [...args, script, fake.url], options)
    expect(JSON.parse(stdout)).toEqual({ ...expected, open: 0 })
  },
  90_000,
)
