import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Runner, startRunner } from '../support/cli/many.ts'
import { makeProject, type Project, root, runIn } from '../support/cli.ts'
import { runTsc } from '../support/typescript.ts'

/** Every combination of the optional parts. */
const combinations = [[], ['-m'], ['-c'], ['-g'], ['-m', '-c'], ['-m', '-g'], ['-c', '-g'], ['-m', '-c', '-g']]
const nameOf = (flags: readonly string[]) => `app${flags.join('')}`
const generated = [
  ['generate-controller', 'users', '--decorators'],
  ['generate-cron', 'cleanup', '--class'],
  ['generate-mqtt', 'doors/front', '--class'],
  ['generate-plugin', 'ledger', '--package'],
]
const packages = ['vitest', 'typescript', 'mqtt', 'graphql', '@graphql-tools', 'node-schedule']

// One for all: each is a folder of it, and finds the packages above.
let project: Project
let runner: Runner
beforeAll(async () => {
  runner = startRunner()
  project = makeProject({}, packages)
  for (const flags of combinations) await init(nameOf(flags), ...flags)
  // What is generated runs there too, classes with decorators for one; the tests of a package beside are not its own.
  const full = join(project.folder, nameOf(['-m', '-c', '-g']))
  for (const argv of generated) expect((await runner.run(full, argv)).code, argv.join(' ')).toBe(0)
})
afterAll(() => {
  runner.close()
  project.remove()
})

async function init(name: string, ...flags: string[]) {
  const { code, stderr } = await runner.run(project.folder, ['init', name, ...flags])
  expect([code, stderr]).toEqual([0, expect.stringContaining('Next:')])
}

describe('projects for Node.js, with every combination of the optional parts', () => {
  test('have no mistake of type', () => {
    const settings = { extends: `./${nameOf(['-m', '-c', '-g'])}/tsconfig.json`, include: ['app*/src'] }
    writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify(settings))
    expect(runTsc(['-p', 'tsconfig.json'], project.folder).output).toBe('')
  })

  test('pass their tests', async () => {
    // The servers of those with up to one part, and all that has all parts: a pair adds nothing to run, and is compiled above.
    const files = [
      ...combinations.filter(({ length }) => length < 2).map((flags) => `${nameOf(flags)}/src/server.test.ts`),
      `${nameOf(['-m', '-c', '-g'])}/`,
    ]
    // Each with the settings that it has.
    const projects = files.map((file) => file.replace(/\/.*/, ''))
    project.write({ 'vitest.config.ts': `export default ${JSON.stringify({ test: { projects } })}\n` })
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    // By default, vitest gives up after 5 s.
    const patience = ['--testTimeout=120000', '--hookTimeout=120000']
    const env = { LOG_LEVEL: 'silent', NODE_ENV: undefined, VITEST: undefined, CI: '' }
    const { code, stdout, stderr } = await runIn(
      project.folder,
      [process.execPath, vitest, 'run', '--pool=threads', '--no-isolate', '--reporter=json', ...patience, ...files],
      env,
    )
    const reported = code === 0 ? (JSON.parse(stdout) as Record<string, number>) : stdout + stderr
    expect(reported).toMatchObject({ numPassedTests: 22, numFailedTests: 0, numTotalTests: 22, success: true })
  })
})
