import { definePlugin, Kernel, kernelOptions, type Registration, RouteCollection } from 'framework/kernel'
import { describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

const events: string[] = []
const plugin = (
  name: string,
  more: { dependencies?: string[]; scoped?: boolean; children?: () => Registration[] } = {},
) => {
  const { children = () => [], ...rest } = more
  return definePlugin({
    name,
    ...rest,
    setup(ctx) {
      events.push(name)
      for (const child of children()) ctx.register(child)
    },
  })()
}

/** A kernel that has these plugins to give. */
function generous(gives: Record<string, () => Registration>): Kernel {
  const settings = kernelOptions.parse({
    router: new RouteCollection(),
    logger: memoryLogger(),
    gracefulShutdown: false,
  })
  return new Kernel({ ...settings, catalog: { ...settings.catalog, companion: (name) => gives[name]?.() } })
}

async function boot(gives: Record<string, () => Registration>, ...registrations: Registration[]): Promise<string[]> {
  events.length = 0
  const kernel = generous(gives)
  for (const one of registrations) kernel.register(one)
  await kernel.ready()
  await kernel.close()
  return [...events]
}

const keys = { keys: () => plugin('keys') }

describe('a plugin that another depends on and no one has registered', () => {
  test('is registered automatically where the server has it, before the plugin that needs it', async () => {
    expect(await boot(keys, plugin('first'), plugin('lock', { dependencies: ['keys'] }), plugin('last'))).toEqual([
      'first',
      'keys',
      'lock',
      'last',
    ])
  })

  test('not where it is registered, before or after, here or in an outer scope', async () => {
    const lock = () => plugin('lock', { dependencies: ['keys'] })
    expect(await boot(keys, plugin('keys'), lock())).toEqual(['keys', 'lock'])
    expect(await boot(keys, lock(), plugin('keys'))).toEqual(['keys', 'lock'])
    expect(await boot(keys, plugin('keys'), plugin('part', { scoped: true, children: () => [lock()] }))).toEqual([
      'keys',
      'part',
      'lock',
    ])
  })

  test('once for two plugins that need it', async () => {
    const two = ['a', 'b'].map((name) => plugin(name, { dependencies: ['keys'] }))
    expect(await boot(keys, ...two)).toEqual(['keys', 'a', 'b'])
  })

  test('with its own dependencies and registrations', async () => {
    const gives = {
      keys: () => plugin('keys', { dependencies: ['metal'], children: () => [plugin('ring')] }),
      metal: () => plugin('metal'),
    }
    const door = plugin('door', { dependencies: ['keys'], children: () => [plugin('bell')] })
    expect(await boot(gives, door)).toEqual(['metal', 'keys', 'ring', 'door', 'bell'])
  })

  test('in the scope of the plugin that needs it, and not beside it', async () => {
    const part = plugin('part', { scoped: true, dependencies: ['keys'] })
    const other = plugin('other', { scoped: true, dependencies: ['keys'] })
    expect(await boot(keys, part, other)).toEqual(['keys', 'part', 'keys', 'other'])
  })

  test('is missed as ever where the server has none', async () => {
    await expect(boot({}, plugin('lock', { dependencies: ['keys'] }))).rejects.toThrow(
      'the plugin "lock" depends on "keys", which is not registered',
    )
  })
})
