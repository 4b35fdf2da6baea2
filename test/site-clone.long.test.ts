import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { copyCheckout } from './support/checkout.ts'
import { root, runIn } from './support/cli.ts'

let scratch: string
let clone: string
beforeAll(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'framework-site-clone-')))
  clone = join(scratch, 'clone')
  await copyCheckout(clone)
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test('the commands of the workflow build the site in a clone, which has no test runtimes', async () => {
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/site.yml'), 'utf8')) as {
    jobs: { publish: { steps: { run?: string }[] } }
  }
  const commands = jobs.publish.steps.flatMap(({ run }) => run ?? [])
  // The copy has the packages of the first command already.
  expect(commands).toEqual(['npm ci', 'npm run site -- --base "$BASE" --out "$RUNNER_TEMP/site"'])
  const { code, stdout, stderr } = await runIn(clone, ['sh', '-c', commands[1]!], {
    BASE: '/docs/',
    RUNNER_TEMP: scratch,
  })
  expect([code, stdout + stderr]).toEqual([0, stdout + stderr])
  expect(readFileSync(join(scratch, 'site/404.html'), 'utf8')).toContain('href="/docs/index.html"')
  expect(existsSync(join(scratch, 'site/docs/api/index.html'))).toBe(true)
  for (const page of ['first-steps/tests', 'plugins/queues', 'recipes/checkout', 'guides/database'])
    expect(readFileSync(join(scratch, `site/docs/${page}.html`), 'utf8'), page).toContain('data-type="')
  expect(existsSync(join(clone, 'test/runtimes/node_modules'))).toBe(false)
  // A minute on two quiet cores, and twelve files run beside it.
}, 900_000)

test('npm run reference needs nothing else', async () => {
  const { code, stdout, stderr } = await runIn(clone, ['npm', 'run', 'reference'])
  expect([code, stdout + stderr]).toEqual([0, stdout + stderr])
  expect(stdout).toMatch(/\d+ pages in dist-api/)
})
