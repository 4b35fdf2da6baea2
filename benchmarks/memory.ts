import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { describeMachine, leaveServerCore, pinned, residentMemory } from './support/machine.ts'
import { root, stageFolder } from './support/stage.ts'
import { median, shuffled } from './support/statistics.ts'
import { table } from './support/table.ts'

const usage = `node --import tsx benchmarks/memory.ts [--requests <n>] [--generations <n>] [--node <path>] [--peers <folder>]
Resident memory when a server is ready, and after so many requests for a small JSON answer over 100 connections (1 000 000).
--peers is a folder with fastify in its node_modules (this checkout). Needs wrk, and Linux.`

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    generations: { type: 'string', default: '3' },
    node: { type: 'string', default: process.execPath },
    peers: { type: 'string', default: root },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}

const answer = `() => ({ hello: 'world' })`
const ready = 'console.log(port)'
const stage = stageFolder(root, 'framework')
const servers = [
  {
    name: 'framework',
    folder: stage.folder,
    code: `import { Server } from 'framework'
const server = new Server({ port: 0, host: '127.0.0.1' })
server.get('/', ${answer})
const { port } = await server.listen()
${ready}`,
  },
  {
    name: 'fastify',
    folder: values.peers,
    code: `import fastify from 'fastify'
const app = fastify()
app.get('/', ${answer})
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address()
${ready}`,
  },
]

/** Resident memory in MB: when it is ready, and after the load. */
async function measure({ folder, code }: (typeof servers)[number]): Promise<[idle: number, loaded: number]> {
  const [command, ...args] = pinned(0, [values.node, '--input-type=module', '-e', code])
  const server = spawn(command!, args, {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production', NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [said] = (await once(server.stdout, 'data')) as [Buffer]
    const idle = residentMemory(server.pid!)
    for (let left = Number(values.requests); left > 0; ) {
      const [wrk, ...options] = pinned(1, [
        'wrk',
        '-t1',
        '-c100',
        '-d3s',
        `http://127.0.0.1:${Number(said.toString())}/`,
      ])
      const { stdout } = spawnSync(wrk!, options, { encoding: 'utf8' })
      const done = Number(/(\d+) requests in/.exec(stdout)?.[1])
      if (!(done > 0) || /Non-2xx/.test(stdout)) throw new Error(`the load failed:\n${stdout}`)
      left -= done
    }
    return [idle, residentMemory(server.pid!)]
  } finally {
    server.kill('SIGKILL')
  }
}

leaveServerCore()
const found = servers.map(({ name }) => ({ name, idle: [] as number[], loaded: [] as number[] }))
for (let generation = 0; generation < Number(values.generations); generation++) {
  for (const server of shuffled(servers)) {
    const [idle, loaded] = await measure(server)
    const own = found[servers.indexOf(server)]!
    own.idle.push(idle)
    own.loaded.push(loaded)
  }
}
const reference = found.at(-1)!
console.log(
  `${describeMachine(values.node)
    .map((line) => `- ${line}`)
    .join('\n')}\n`,
)
console.log(
  table(
    ['server', 'ready MB', 'loaded MB', '× fastify'],
    found.map(({ name, idle, loaded }) => [
      name,
      median(idle).toFixed(0),
      median(loaded).toFixed(0),
      (median(loaded) / median(reference.loaded)).toFixed(2),
    ]),
  ),
)
