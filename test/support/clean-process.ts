import { afterAll } from 'vitest'
import { router, systemClock, virtualClock } from '../../kernel/index.ts'
import { started } from '../../plugins/cron/jobs/declarations.ts'
import { declarations } from '../../plugins/mqtt/subscriptions/connections.ts'
import { subscribers } from '../../plugins/queues/service.ts'
import type { Declarations } from '../../plugins/shared/work/declarations.ts'

// The files that share a process leave it as they have found it: what one forgets, another would fail of, depending on their order.
const env = { ...process.env }
const folder = process.cwd()
const machine = { ...systemClock }

const forget = <Declared extends object>(all: Declarations<Declared>) => all.all.map((declared) => all.remove(declared))

afterAll(async () => {
  router.clearRoutes()
  // Every later server of the process would run what is still declared, and list it in its documents.
  await Promise.all([...forget(subscribers), ...forget(started), ...forget(declarations)])
  if (process.cwd() !== folder) process.chdir(folder)
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name]
  Object.assign(process.env, env)
  // Every later file would wait for a clock that no one moves: the one that has left it fails.
  const hasStoppedTime = virtualClock() !== undefined || systemClock.now !== machine.now
  Object.assign(systemClock, machine)
  Object.assign(Reflect.get(globalThis, Symbol.for('framework.clock')), { inUse: undefined })
  if (hasStoppedTime) throw new Error('a test clock is still in use after this file: restore it')
})
