import { afterAll, beforeAll, expect, test } from 'vitest'
import { application, losesNothing, makeApplication, rehearse, removeProjects } from '../support/cli/rehearsal.ts'
import { makeBin } from '../support/cli/runtimes.ts'

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
