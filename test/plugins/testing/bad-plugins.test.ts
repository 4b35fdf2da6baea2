import { router } from 'framework'
import { afterEach, expect, test } from 'vitest'
import { testPlugin } from '../../contracts/plugin/index.ts'
import { badDefinitions } from '../../fixtures/bad-plugins/definitions.ts'
import { badLives, endAll } from '../../fixtures/bad-plugins/life.ts'
import { badScopes } from '../../fixtures/bad-plugins/scopes.ts'

afterEach(() => {
  endAll()
  router.clearRoutes()
})

const all = [...badDefinitions, ...badScopes, ...badLives]

test.each(all)('a plugin fails by its mistake: $mistake', async ({ factory, options, fails }) => {
  const error: Error = await testPlugin(factory as never, options as never).then(
    () => expect.unreachable('the plugin passes'),
    (error) => error,
  )
  expect(error.message).toMatch(fails)
  expect(error.message).toMatch(/^the plugin "[^"]+" fails\n- /)
})

test('the mistakes are at least twenty', () => {
  expect(new Set(all.map(({ mistake }) => mistake)).size).toBeGreaterThanOrEqual(20)
})
