import { PolicyManager, RouteCollection, Server } from 'framework'
import { describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

describe('canAccess', () => {
  test('calls the check with exactly its arguments', async () => {
    const edit = vi.fn((user: unknown, ...rest: unknown[]) => user === 'ann' && rest.length === 2)
    const policies = new PolicyManager({ posts: { edit } })
    expect(await policies.canAccess('posts', 'edit', 'ann', 1, 2)).toBe(true)
    expect(await policies.canAccess('posts', 'edit', 'bob')).toBe(false)
    expect(edit.mock.calls).toEqual([['ann', 1, 2], ['bob']])
  })

  test('gives checks their scope as this', async () => {
    const policies = new PolicyManager({
      posts: {
        admin: (user: unknown) => user === 'root',
        edit(user: unknown): boolean {
          return this.admin(user)
        },
      },
    })
    expect(await policies.canAccess('posts', 'edit', 'root')).toBe(true)
    expect(await policies.canAccess('posts', 'edit', 'ann')).toBe(false)
  })

  test.each<[string, unknown, string | undefined]>([
    ['true', () => true, undefined],
    ['a promise of true', async () => true, undefined],
    ['false', () => false, undefined],
    ["'true'", () => 'true', 'string'],
    ['nothing', () => undefined, 'undefined'],
    [
      'a throw',
      () => {
        throw new Error('away')
      },
      'threw',
    ],
    [
      'a rejection',
      async () => {
        throw new Error('away')
      },
      'rejected',
    ],
    ['no response', () => new Promise(() => {}), '20 ms'],
  ])('a check with %s never rejects', async (what, check, why) => {
    const logger = memoryLogger()
    const policies = new PolicyManager({ a: { b: check as () => boolean } }, { timeout: 20, logger })
    expect(await policies.canAccess('a', 'b')).toBe(what.endsWith('true'))
    expect(logger.entries).toHaveLength(why === undefined ? 0 : 1)
    if (why !== undefined) expect(logger.entries[0]!.message).toContain(why)
  })

  test('without a logger writes to standard error', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const policies = new PolicyManager({
      a: {
        b: () => {
          throw new Error('away')
        },
      },
    })
    expect(await policies.canAccess('a', 'b')).toBe(false)
    expect(write.mock.calls.join()).toContain('"policy":"a.b"')
    write.mockRestore()
  })

  test.each([
    ['post', 'edit', /there is no policy scope "post"\. Did you mean "posts"\? Known: "posts", "a\\n\\"b"/],
    ['posts', 'edti', /the policy scope "posts" has no check "edti"\. Did you mean "edit"\? Known: "edit"/],
    ['toString', 'call', /no policy scope "toString"/],
    ['__proto__', 'toString', /no policy scope "__proto__"/],
    ['posts', 'constructor', /no check/],
    ['posts', '__proto__', /no check/],
  ])('%s.%s rejects and names those there are', async (scope, handler, message) => {
    const policies = new PolicyManager({ posts: { edit: () => true }, 'a\n"b': {} })
    await expect((policies as unknown as PolicyManager).canAccess(scope, handler, 'ann')).rejects.toThrow(message)
  })

  test('any name can be that of a check', async () => {
    const odd = ['__proto__', 'constructor', 'a"b', "a'b", 'a\nb', 'a`$b', 'a.b', ' ']
    const checks = Object.fromEntries(odd.map((name) => [name, () => true]))
    const policies = new PolicyManager(Object.fromEntries(odd.map((name) => [name, checks])))
    for (const name of odd) expect(await policies.canAccess(name, name)).toBe(true)
  })

  test('a check that is put into the record later changes nothing', async () => {
    const record = { posts: { edit: () => false } }
    const policies = new PolicyManager(record)
    record.posts.edit = () => true
    expect(await policies.canAccess('posts', 'edit')).toBe(false)
  })
})

describe('invalid arguments are refused', () => {
  test.each<[string, unknown[], string]>([
    ['no record', [], 'policies'],
    ['a list', [[]], 'policies'],
    ['a scope that is a function', [{ posts: () => true }], 'policies.posts'],
    ['an invalid check', [{ posts: { edit: true } }], 'policies.posts.edit'],
    ['a subject that is not a function', [{}, { user: 'ann' }], 'user'],
    ['a time-out of 0', [{}, { timeout: 0 }], 'timeout'],
    ['a time-out for ever', [{}, { timeout: Number.POSITIVE_INFINITY }], 'timeout'],
    ['another option', [{}, { timeOut: 5 }], 'timeOut'],
    ['an invalid logger', [{}, { logger: console.error }], 'PolicyManager.logger'],
  ])('%s', (_what, args, names) => {
    expect(() => new PolicyManager(...(args as [never]))).toThrow(names)
  })

  const manager = new PolicyManager({ posts: { edit: () => true } })
  test.each<[string, unknown, RegExp]>([
    [
      'an unknown scope',
      { manager, scope: 'pots', handler: 'edit' },
      /no policy scope "pots"\. Did you mean "posts"\?/,
    ],
    ['an unknown check', { manager, scope: 'posts', handler: 'edti' }, /"edti"\. Did you mean "edit"\? Known: "edit"/],
    [
      'the second of a list',
      [
        { manager, scope: 'posts', handler: 'edit' },
        { manager, scope: 'x', handler: 'y' },
      ],
      /scope "x"/,
    ],
    ['an empty list', [], /an empty list/],
    ['a list with a hole', new Array(1), /it takes/],
    ['null', null, /"policy" is null/],
    ['a name', 'posts.edit', /"policy" is "posts\.edit"/],
    ['a function', () => true, /"policy" is/],
    ['no manager', { scope: 'posts', handler: 'edit' }, /policy\.manager/],
    ['a record as the manager', { manager: { posts: {} }, scope: 'posts', handler: 'edit' }, /policy\.manager/],
    ['no scope', { manager, handler: 'edit' }, /policy\.scope/],
    ['no handler', { manager, scope: 'posts' }, /policy\.handler/],
    ['another member', { manager, scope: 'posts', handler: 'edit', handlers: [] }, /policy\.handlers/],
    ['a hole in a list', [undefined], /"policy\[0\]" is undefined/],
    [
      'several mistakes',
      [{ manager, scope: 5 }, 'posts.edit'],
      /3 options are wrong:\n.*policy\[0\]\.scope" is 5.*\n.*policy\[0\]\.handler" is missing.*\n.*policy\[1\]" is "posts/,
    ],
  ])('a route with %s fails the boot and is named', async (_what, policy, message) => {
    const server = new Server<{}>({ router: new RouteCollection(), logger: memoryLogger() })
    server.get('/posts/:id', { policy: policy as never }, () => 1)
    await expect(server.ready()).rejects.toThrow(message)
    await expect(server.ready()).rejects.toThrow('GET /posts/:id')
    await server.close()
  })

  test('a faulty route that comes after boot is left out, not left open', async () => {
    const logger = memoryLogger()
    const server = new Server<{}>({ router: new RouteCollection(), logger })
    await server.ready()
    server.get('/late', { policy: { manager, scope: 'nope', handler: 'edit' } as never }, () => 1)
    ;(await server.inject.get('/late')).assertStatus(404)
    expect(logger.entries).toHaveLength(1)
    await server.close()
  })
})
