import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project } from '../support/cli.ts'

const place = `import { defineCommand } from 'framework'
export const place = defineCommand({
  name: 'place',
  description: 'Prints where it runs',
  run: ({ print }) => print(JSON.stringify([process.cwd(), process.env.INIT_CWD])),
})
`

let project: Project
let runner: Runner
beforeAll(() => {
  runner = startRunner()
  project = makeProject({
    'src/index.js': "import { server } from './server.js'\nawait server.listen()\n",
    'src/server.js': `import { router, Server } from 'framework'
router.get('/here', function here() {})
export const server = new Server({ controllerPatterns: ['src/deep/*.routes.js'] })
`,
    'src/deep/more.routes.js': "import { router } from 'framework'\nrouter.get('/deep', function deep() {})\n",
    'src/commands/place.js': place,
  })
})
afterAll(() => {
  runner.close()
  project.remove()
})

const inDeep = (...argv: string[]) => runner.run(join(project.folder, 'src/deep'), argv)
const isThere = (...files: string[]) => files.filter((file) => existsSync(join(project.folder, file)))

test('commands about the application work from every folder of the project, and report where they are', async () => {
  const { code, stdout, stderr } = await inDeep('routes')
  expect([code, stdout]).toEqual([0, 'GET  /here  here\nGET  /deep  deep\n'])
  expect(stderr).toContain(`In ${project.folder}\n`)
  // A path is relative to the folder where it was typed.
  expect((await inDeep('explain', 'GET', '/deep', '--entry', '../server.js')).code).toBe(0)
  expect((await inDeep('routes', '--entry', 'src/server.js')).stderr).toContain('src/deep/src/server.js does not exist')
})

test('a command of the application is found from there, and runs in the folder of the project', async () => {
  expect((await inDeep('list')).stdout).toContain('place')
  const { code, stdout } = await inDeep('place')
  expect([code, JSON.parse(stdout)]).toEqual([0, [project.folder, join(project.folder, 'src/deep')]])
})

test('files are written as from the folder of the project, or to the given path', async () => {
  for (const argv of [['build'], ['build', '--out', '../../built']]) expect((await inDeep(...argv)).code).toBe(0)
  for (const argv of [['generate-sdk'], ['generate-sdk', '--out', 'client.ts']]) {
    expect((await inDeep(...argv)).code).toBe(0)
  }
  for (const argv of [
    ['generate-middleware', 'tenant'],
    ['generate-middleware', 'near', '--dir', '.'],
  ]) {
    expect((await inDeep(...argv)).code).toBe(0)
  }
  await inDeep('key-generate', '--type', 'secret', '--env')
  const files = ['dist/index.js', 'built/index.js', 'src/sdk.ts', 'src/deep/client.ts', 'src/middlewares/tenant.ts']
  expect(isThere(...files, 'src/deep/near.ts', '.env', 'src/dist', 'src/deep/.env')).toEqual([
    ...files,
    'src/deep/near.ts',
    '.env',
  ])
  expect((await inDeep('generate-plugin', 'ledger', '--package')).stderr).toContain('  cd ../../ledger\n')
})

test.each([
  ['framework', 'src/deep/by-npm.ts'],
  ['client', 'by-npm.ts'],
])('npm enters the folder of the project: paths of its script %s are for %s', async (script, file) => {
  const npm = startRunner({ npm_lifecycle_event: script, INIT_CWD: join(project.folder, 'src/deep') })
  try {
    expect((await npm.run(project.folder, ['generate-sdk', '--out', 'by-npm.ts'])).code).toBe(0)
  } finally {
    npm.close()
  }
  expect(isThere(file)).toEqual([file])
})

test('init stays where it was called', async () => {
  expect((await inDeep('init', 'app')).code).toBe(0)
  expect(readFileSync(join(project.folder, 'src/deep/app/package.json'), 'utf8')).toContain('"name": "app"')
})
