import { channel } from 'node:diagnostics_channel'
import type { Server } from 'framework'
import { afterAll } from 'vitest'
import { RouteCollection, router, systemClock, virtualClock } from '../../kernel/index.ts'
import * as channels from '../../plugins/channels/hub.ts'
import { servers as serversWithJobs, services, started } from '../../plugins/cron/jobs/declarations.ts'
import { declarations, servers as serversWithMqtt } from '../../plugins/mqtt/subscriptions/connections.ts'
import { declared } from '../../plugins/queues/registry.ts'
import { servers as serversWithQueues, subscribers } from '../../plugins/queues/service.ts'
import type { Declarations } from '../../plugins/shared/work/declarations.ts'

// The files that share a process leave it as they have found it: what one forgets, another would fail of, depending on their order.
const env = { ...process.env }
const folder = process.cwd()
const machine = { ...systemClock }

/** The servers that a file has begun to boot; they may be collected. */
const servers = new Set<WeakRef<Server>>()
const known = new WeakSet<Server>()
const plugins = channel('tracing:framework:plugin:start')
const note = (event: unknown) => {
  const { server } = event as { server: Server }
  if (known.has(server)) return
  known.add(server)
  servers.add(new WeakRef(server))
}
plugins.subscribe(note)

const forget = <Declared extends object>(all: Declarations<Declared>) => all.all.map((declared) => all.remove(declared))

/** A server takes over what code without one has left in its queues, dead letters for example, and they end with it. */
async function endQueuesOfProcess() {
  const { Server } = await import('framework')
  const server = new Server({ plugins: { queues: true }, router: new RouteCollection(), gracefulShutdown: false })
  await server.ready()
  await server.close()
}

afterAll(async () => {
  plugins.unsubscribe(note)
  router.clearRoutes()
  // Every later server of the process would run what is still declared, and list it in its documents.
  declared.clear()
  await Promise.all([...forget(subscribers), ...forget(started), ...forget(declarations)])
  if (process.cwd() !== folder) process.chdir(folder)
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name]
  Object.assign(process.env, env)
  // Every later file would wait for a clock that no one moves: the one that has left it fails.
  const hasStoppedTime = virtualClock() !== undefined || systemClock.now !== machine.now
  Object.assign(systemClock, machine)
  Object.assign(Reflect.get(globalThis, Symbol.for('framework.clock')), { inUse: undefined })
  // What a later file declares would run in them. One that a test has closed stays as that has left it.
  await Promise.allSettled([...servers].map((server) => server.deref()?.close()))
  if (subscribers.runners.length > 0) await endQueuesOfProcess()
  const left = {
    channels: channels.servers.size,
    cron: Math.max(serversWithJobs.size, services.size),
    mqtt: serversWithMqtt.size + declarations.runners.length,
    queues: serversWithQueues.size + subscribers.runners.length,
  }
  const open = Object.entries(left).flatMap(([name, size]) => (size > 0 ? [`${size} of ${name}`] : []))
  if (open.length > 0) throw new Error(`services still run after this file: ${open.join(', ')}. End them`)
  if (hasStoppedTime) throw new Error('a test clock is still in use after this file: restore it')
})
