import { expect } from 'vitest'
import type { Outcome } from '../../../cli/rehearse/rehearse.ts'
import { makeProject, type Project, runIn } from '../cli.ts'

/** The projects of a test file. */
export const projects: Project[] = []

/** For `afterAll`. */
export function removeProjects(): void {
  for (const project of projects.splice(0)) project.remove()
}

export function makeApplication(source: string, files: Readonly<Record<string, string>> = {}): Project {
  const project = makeProject({ 'dist/index.js': source, ...files }, ['ws'])
  projects.push(project)
  return project
}

/** An application in which nothing is lost; `more` is what is wrong with it. */
export const application = (more = '') => `import { cron, definePlugin, memoryQueue, Server } from 'framework'
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const server = new Server({
  drainWindow: 1000,
  closeTimeout: 4000,
  plugins: { health: true, json: true, websocket: true, queues: { run: true }, openapi: { info: { title: 'A', version: '1' } } },
})
server.get('/', () => 'home')
server.get('/broken', () => { throw new Error('as always') })
server.get('/slow', async () => {
  await pause(300)
  return 'done'
})
server.get('/events', (req, res) => res.sse(async function* () {
  while (!req.server.closing.aborted) {
    yield 'tick'
    await pause(50)
  }
}()))
server.ws('/live', { message: (socket, text) => socket.send(text) })
${more}
await server.listen()
`

/** The command, as briefly as it goes. */
export const args = ['rehearse', '--duration', '1']

export async function rehearse({ folder }: Project, more: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const command = [process.execPath, 'node_modules/framework/dist/cli/index.js', ...args, '--json', ...more]
  const { code, stdout, stderr } = await runIn(folder, command, env)
  if (!stdout.startsWith('{')) throw new Error(`${code}\n${stdout}${stderr}`)
  const outcome = JSON.parse(stdout) as Outcome
  const lost = outcome.findings.filter(({ level }) => level === 'lost').map(({ what }) => what)
  return { code, stderr, outcome, lost }
}

/** Nothing is lost, although one instance is killed. */
export const losesNothing = ({ code, outcome, lost, stderr }: Awaited<ReturnType<typeof rehearse>>) => {
  expect([lost, code]).toEqual([[], 0])
  expect(outcome.closing).toMatchObject({ ended: 'exit code 0' })
  expect(outcome.closing.hooks).toContainEqual(
    expect.objectContaining({ name: 'the drain hook of "websocket"', ms: expect.any(Number) }),
  )
  const killed = outcome.findings.map(({ what, level }) => [level, what])
  expect(killed).toContainEqual(['killed', 'websocket GET /live: ended without a close frame'])
  expect(killed).toContainEqual(['killed', 'stream GET /events: cut off'])
  expect(stderr).toContain('nothing avoidable was lost')
}
