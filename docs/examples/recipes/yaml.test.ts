import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kernelOptions } from 'framework/kernel'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { makeServer } from './kubernetes.ts'

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

test('the numbers of Kubernetes and of the server fit each other', async () => {
  const [deployment] = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS())
  const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec
  const { readinessProbe, livenessProbe } = containers[0]
  await using server = makeServer()
  const settings = kernelOptions.parse({ drainWindow: 10_000, closeTimeout: 30_000 })
  expect(read('kubernetes.ts')).toContain('drainWindow: 10_000,\n    closeTimeout: 30_000')
  const noticed = readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1000
  expect(noticed).toBeLessThan(settings.drainWindow)
  expect(settings.drainWindow).toBeLessThan(settings.closeTimeout)
  expect(settings.closeTimeout).toBeLessThan(terminationGracePeriodSeconds * 1000)
  for (const { httpGet } of [readinessProbe, livenessProbe]) (await server.inject.get(httpGet.path)).assertStatus(200)
})

test('the workflow runs scripts that a project has', () => {
  const { jobs } = parse(read('github-actions.yaml'))
  const commands: string[] = jobs.test.steps.flatMap(({ run }: { run?: string }) => run ?? [])
  const project = read('../../../cli/scaffold/templates/project/package.json.mustache').replaceAll(
    '{{program}}',
    'framework',
  )
  for (const command of commands.filter((one) => one.startsWith('npm run ')))
    expect(project).toContain(`"${/^npm run (\w+)/.exec(command)![1]}"`)
  expect(commands).toContain('npm run framework -- doctor --production --strict')
})
