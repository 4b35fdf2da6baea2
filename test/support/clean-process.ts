import { afterAll } from 'vitest'
import { router, systemClock, virtualClock } from '../../kernel/index.ts'

// The files that share a process leave it as they have found it: what one forgets, another would fail of, depending on their order.
const env = { ...process.env }
const folder = process.cwd()
const machine = { ...systemClock }

afterAll(() => {
  router.clearRoutes()
  if (process.cwd() !== folder) process.chdir(folder)
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name]
  Object.assign(process.env, env)
  // Every later file would wait for a clock that no one moves: the one that has left it fails.
  const hasStoppedTime = virtualClock() !== undefined || systemClock.now !== machine.now
  Object.assign(systemClock, machine)
  Object.assign(Reflect.get(globalThis, Symbol.for('framework.clock')), { inUse: undefined })
  if (hasStoppedTime) throw new Error('a test clock is still in use after this file: restore it')
})
