import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  application,
  losesNothing,
  makeApplication,
  projects,
  rehearse,
  removeProjects,
} from '../support/cli/rehearsal.ts'
import { makeBin } from '../support/cli/runtimes.ts'
import { framework, makeProject, root } from '../support/cli.ts'

let bin: ReturnType<typeof makeBin>
beforeAll(() => {
  bin = makeBin()
})
afterAll(() => {
  bin?.remove()
  removeProjects()
})

// rehearse.test.ts has the same on Node.js.
test.each(['bun', 'deno'] as const)('a rehearsal loses nothing on %s', async (name) => {
  const project = makeApplication(application())
  const env = { PATH: bin.path }
  const ended = await rehearse(project, ['--runtime', name, '--entry', 'dist/index.js'], env)
  losesNothing(ended)
  // What fails before is not a loss.
  expect(Object.keys(ended.outcome.responses)).toEqual(['200', '500'])
})

test('a rehearsal loses nothing of the demo, which closes well', async () => {
  const packages = ['ws', 'esbuild', 'graphql', '@graphql-tools', 'node-schedule', 'mqtt', 'mustache', 'nodemailer']
  const project = makeProject({}, [...packages, 'cronstrue', 'zod', '@sinclair'])
  projects.push(project)
  const filter = (path: string) => !path.endsWith('.test.ts')
  cpSync(join(root, 'docs/examples/demo'), join(project.folder, 'src'), { recursive: true, filter })
  expect((await framework(project.folder, ['build', '--entry', 'src/main.ts'])).code).toBe(0)
  // In production, the emails of the demo need a server.
  const ended = await rehearse(project, ['--entry', 'dist/main.js'], { NODE_ENV: 'development' })
  losesNothing(ended)
  expect(ended.outcome.closing.hooks.length).toBeGreaterThan(10)
})
