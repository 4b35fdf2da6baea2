import { definePlugin, RouteCollection, Server } from 'framework'
import { announcePluginData } from 'framework/kernel'
import { expect, test } from 'vitest'

test.each([
  ['opnapi', 'openapi'],
  ['docter', 'doctor'],
  ['comands', 'commands'],
  ['healht', 'health'],
  // Of plugins that this server does not have, and of the command line.
  ['metrcs', 'metrics'],
  ['acces', 'access'],
])('data that is misspelt, %s, fails where the plugin is defined', (member, meant) => {
  const define = () => definePlugin({ name: 'p', [member]: {} })
  expect(define).toThrow(`"${member}" is not a member of a plugin; did you mean "${meant}"?`)
})

test('data that is announced after the definition is compared where the plugin is registered', () => {
  const early = definePlugin({ name: 'early', badgs: {} } as { name: string })
  announcePluginData('badges')
  expect(() => new Server({ router: new RouteCollection(), plugins: [early()] })).toThrow('did you mean "badges"?')
})
