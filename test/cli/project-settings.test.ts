import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { framework } from '../support/cli/fresh.ts'
import { makeProject, type Project, root } from '../support/cli.ts'
import { startProgram } from '../support/docs/program.ts'

const projects: Project[] = []
afterEach(() => {
  for (const project of projects.splice(0)) project.remove()
})

const files = {
  'code/app/make.js': `import { RouteCollection, Server } from 'framework'
const routes = new RouteCollection()
routes.get('/elsewhere', () => 'here')
export const makeServer = () => new Server({ router: routes })
`,
  'code/main.js': `import { makeServer } from './app/make.js'
const server = makeServer()
await server.listen(() => console.log(server.url))
`,
}
const place = { start: 'code/main.js', server: 'code/app/make.js', export: 'makeServer' }

function project(settings: unknown, more: Readonly<Record<string, string>> = {}): Project {
  const made = makeProject({
    'package.json': JSON.stringify({ type: 'module', framework: settings }),
    ...files,
    ...more,
  })
  projects.push(made)
  return made
}

test('package.json says where the application is, to the commands about it and to those that run it', async () => {
  const { folder } = project(place)
  const { code, stdout } = await framework(folder, ['routes'])
  expect([code, stdout]).toEqual([0, 'GET  /elsewhere  app/make.js:3\n'])
  const program = await startProgram([join(root, 'dist/cli/index.js'), 'serve'], {}, process.execPath, folder)
  try {
    expect(await (await fetch(`${program.url}/elsewhere`)).json()).toBe('here')
  } finally {
    expect(await program.end()).toEqual({ code: 0, signal: null })
  }
})

test('what is typed takes precedence', async () => {
  const { folder } = project(place, { 'other.js': files['code/app/make.js'].replace('elsewhere', 'other') })
  writeFileSync(join(folder, 'other.js'), `${files['code/app/make.js']}export const server = makeServer()`)
  const { code, stderr } = await framework(folder, ['routes', '--entry', 'other.js'])
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('makeServer')])
  const unknown = await framework(folder, ['routes', '--export', 'nothing'])
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('code/app/make.js exports no server') })
})

test('a folder that has only the build finds the built modules', async () => {
  const { folder } = project(place, {
    'dist/app/make.js': files['code/app/make.js'].replace('elsewhere', 'built'),
    'dist/main.js': files['code/main.js'],
  })
  const built = await startProgram([join(root, 'dist/cli/index.js'), 'start'], {}, process.execPath, folder)
  expect((await fetch(`${built.url}/built`)).status).toBe(200)
  await built.end()
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ type: 'module', framework: { ...place, server: 'gone/app/make.js' } }),
  )
  expect((await framework(folder, ['routes'])).stdout).toContain('/built')
})

test.each([
  [
    { strat: 'a.js' },
    'package.json: Unknown option "framework.strat". Did you mean "start"? Known options: start, server, export',
  ],
  [{ server: 5 }, 'package.json: the option "framework.server" is 5; it takes'],
  ['code/main.js', 'package.json: the option "framework" is'],
  [{ server: 'no.js' }, 'the entry no.js does not exist'],
])('%j is refused', async (settings, message) => {
  const { code, stderr } = await framework(project(settings).folder, ['routes'])
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
})

test('a start file that does not exist is named', async () => {
  const { code, stderr } = await framework(project({ start: 'no.js' }).folder, ['serve'])
  expect([code, stderr]).toEqual([1, 'the entry no.js does not exist\n'])
})

test('the commands work for the demo, from the folder of this checkout', async () => {
  const routes = await framework(root, ['routes'])
  expect([routes.code, routes.stdout, routes.stderr]).toEqual([
    0,
    expect.stringMatching(/^GET +\/books\/:id .*cached$/m),
    expect.not.stringContaining('Deprecation'),
  ])
  const explained = await framework(root, ['explain', 'GET', '/books/1'])
  expect([explained.code, explained.stdout]).toEqual([0, expect.stringMatching(/^GET \/books\/:id\n {2}id = "1"$/m)])
  const plugins = await framework(root, ['plugins'])
  expect([plugins.code, plugins.stdout]).toEqual([0, expect.stringContaining('returns-box')])
})

test('paths of a tsconfig.json do not lead to a second copy of the framework', async () => {
  const made = makeProject({
    'tsconfig.json': JSON.stringify({
      compilerOptions: { paths: { framework: ['./copy.ts'], 'framework/*': ['./copy.ts'] } },
    }),
    'copy.ts': 'throw new Error("the second copy was loaded")',
    'src/server.ts': `import { Server } from 'framework'
import { cors } from 'framework/plugins/cors'
export const server = new Server({ plugins: [cors()] })
server.router.get('/one', () => 1)
`,
  })
  projects.push(made)
  const { code, stdout, stderr } = await framework(made.folder, ['routes'])
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('/one'), expect.not.stringContaining('second')])
})
