import { afterAll } from 'vitest'
import { router } from '../../kernel/index.ts'

// The files that share a process leave it as they have found it: what one forgets, another would fail of, depending on their order.
const env = { ...process.env }
const folder = process.cwd()

afterAll(() => {
  router.clearRoutes()
  if (process.cwd() !== folder) process.chdir(folder)
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name]
  Object.assign(process.env, env)
})
