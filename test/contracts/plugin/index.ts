import assert from 'node:assert/strict'
import type { PluginFactory } from 'framework'
import { type PluginCheck, pluginChecks } from './checks.ts'
import type { PluginTestOptions } from './options.ts'
import { type AnyFactory, Subject } from './subject.ts'

/**
 * Tests what every plugin promises: metadata, wrong options, the forms of registration, scopes and prefixes, several servers, closing at
 * every moment, requests in progress, and what remains after closing. The tests run one after the other: they count what keeps the process
 * running.
 *
 * @throws (as a rejection, without `test`) an AssertionError that lists every failed check.
 * @example
 * testPlugin(slow, {
 *   test,
 *   options: { after: 50 },
 *   wrongOptions: { after: [-1, 'soon'] },
 *   use: async (server) => (await server.inject.get('/slow')).assertStatus(200),
 * })
 */
export async function testPlugin<Factory extends PluginFactory<never, object>>(
  factory: Factory,
  options: PluginTestOptions<Parameters<Factory>[0]> = {},
): Promise<void> {
  const make = () => new Subject(factory as unknown as AnyFactory, options as PluginTestOptions<unknown>)
  const run = async (check: PluginCheck) => {
    const subject = make()
    await check.run(subject).finally(() => subject.close())
  }
  const { name } = factory.plugin
  if (options.test !== undefined) {
    for (const check of pluginChecks) options.test(`the plugin ${name} ${check.name}`, () => run(check))
    return
  }
  const failures: string[] = []
  for (const check of pluginChecks)
    await run(check).catch((error: Error) => failures.push(`- ${check.name}: ${error.message}`))
  if (failures.length > 0) assert.fail(`the plugin "${name}" fails\n${failures.join('\n')}`)
}

export type { PluginTestOptions }
