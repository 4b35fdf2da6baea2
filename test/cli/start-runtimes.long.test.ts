import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeBin } from '../support/cli/runtimes.ts'
import { makeApplication, ownCache, removeProjects, workersOf } from '../support/cli/workers.ts'
import { framework } from '../support/cli.ts'
import { isAlive, startWorkers, until } from '../support/serve.ts'

let bin: ReturnType<typeof makeBin>
beforeAll(() => {
  bin = makeBin()
})
afterAll(() => {
  bin?.remove()
  removeProjects()
})

test.concurrent.each([
  'bun',
  'deno',
] as const)('on %s: workers share the port, and no other process has it', async (name) => {
  const project = makeApplication()
  const env = { ...ownCache, PATH: bin.path }
  const serving = await startWorkers(project, ['--workers', '2', '--runtime', name], { env })
  try {
    await serving.says('2 workers listen')
    // What the first worker has compiled; Deno has a cache of its own.
    expect(existsSync(join(project.folder, 'node_modules/.cache/framework'))).toBe(name === 'bun')
    const before = await workersOf(serving, 2)
    expect(before.map(({ leads }) => leads)).toEqual([true, false])
    const other = await framework(project.folder, ['start', '--runtime', name], { ...env, PORT: String(serving.port) })
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining(`127.0.0.1:${serving.port} is in use by`)])
    serving.child.kill('SIGHUP')
    await serving.says('2 workers were replaced')
    const after = await workersOf(serving, 2)
    expect(after.filter(({ pid }) => before.some((one) => one.pid === pid))).toEqual([])
    // Killed, it takes the workers along.
    await serving.end('SIGKILL')
    await until('the end of the workers', () => !after.some(({ pid }) => isAlive(pid)))
  } finally {
    await serving.end('SIGKILL')
  }
})
