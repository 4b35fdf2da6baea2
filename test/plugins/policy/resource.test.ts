import { controller, forResource, get, PolicyManager, RouteCollection, router, Server } from 'framework'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'

interface Post {
  author: string
}
type User = { id: string } | undefined
const guest: User = undefined
const isAuthor = (user: User, post: Post) => user?.id === post.author

function serverWith(check: unknown) {
  const manager = new PolicyManager({ posts: { edit: check as () => boolean } })
  const server = new Server<{}>({ router: new RouteCollection(), logger: memoryLogger() })
  server.put('/posts/:id', { policy: { manager, scope: 'posts', handler: 'edit' } }, () => 'changed')
  return { manager, server }
}

afterEach(() => router.clearRoutes())

describe('a check that asks about a resource', () => {
  const unfit: [string, unknown, string][] = [
    ['that is marked', forResource(isAuthor), 'it was created by forResource()'],
    ['with a third parameter', (_user: User, _post: Post, _comment: string) => true, 'it has 3 parameters'],
    ['whose third parameter has a default', (_user: User, _post: Post, _by = 'id') => true, 'it has 3 parameters'],
    ['with a leading default', (_user: User = guest, _post: Post, _by: string) => true, 'it has 3 parameters'],
    ['with a rest after two', (_user: User, _post: Post, ..._more: Post[]) => true, 'it has 3 parameters'],
    [
      'whose defaults have brackets and commas',
      (_user: User, _p = [1, ')'], _q = { a: [0, { b: 1 }] }) => true,
      'it has 3',
    ],
    ['whose parameters are patterns', ({ id }: { id: 1 }, [_a, _b]: [1, 2], { c }: { c: 1 }) => id === c, 'it has 3'],
    [
      'between comments',
      (_user: User /* the one, who asks ( */, _post: Post, /* , */ _by: string) => true,
      'it has 3 parameters',
    ],
    [
      'that is a method',
      {
        edit(_user: User, _post: Post, _by: string) {
          return true
        },
      }.edit,
      'it has 3 parameters',
    ],
    [
      'whose name is computed',
      {
        [['edit', 'x'].join('(')](_user: User, _post: Post, _by: string) {
          return true
        },
      }['edit(x'],
      'it has 3 parameters',
    ],
    ['that is asynchronous', async (_user: User, _post: Post, _by: string) => true, 'it has 3 parameters'],
    ['that is bound', ((_user: User, _post: Post, _by: string) => true).bind(undefined), 'it has 3 parameters'],
    ['that is watched', vi.fn((_user: User, _post: Post, _by: string) => true), 'it has 3 parameters'],
  ]

  test.each(unfit)('%s is refused on a route at boot, with its place', async (_what, check, why) => {
    await using server = serverWith(check).server
    await expect(server.ready()).rejects.toThrow(`the check "posts.edit" cannot guard a route: ${why}`)
    await expect(server.ready()).rejects.toThrow(/PUT \/posts\/:id.*resource\.test\.ts:\d+/)
    await expect(server.ready()).rejects.toMatchObject({ cause: { code: 'ResourcePolicyError' } })
  })

  test.each(unfit.slice(0, 2))('%s is refused in a decorator where it is written', (_what, check, why) => {
    const policy = serverWith(check).manager.createDecorator()
    expect(() => {
      @controller('/posts')
      class Posts {
        @policy('posts', 'edit') @get('/') list() {}
      }
      void Posts
    }).toThrow(`the check "posts.edit" cannot guard a route: ${why}`)
    expect(router.routes).toEqual([])
  })

  test('is left out when its route comes after boot', async () => {
    const { server, manager } = serverWith(() => true)
    await using open = server
    await open.ready()
    // Its type would keep it from compiling here.
    const late: PolicyManager = new PolicyManager({ posts: { edit: forResource(isAuthor) } })
    open.get('/late', { policy: { manager: late, scope: 'posts', handler: 'edit' } }, () => 1)
    ;(await open.inject.get('/late')).assertStatus(404)
    expect(await manager.canAccess('posts', 'edit')).toBe(true)
  })

  test('is asked by canAccess, with its scope as this', async () => {
    const policies = new PolicyManager({
      posts: {
        admin: (user: User) => user?.id === 'root',
        edit: forResource(function (this: { admin(user: User): boolean }, user: User, post: Post) {
          return this.admin(user) || isAuthor(user, post)
        }),
      },
    })
    expect(await policies.canAccess('posts', 'edit', { id: 'ann' }, { author: 'ann' })).toBe(true)
    expect(await policies.canAccess('posts', 'edit', { id: 'bob' }, { author: 'ann' })).toBe(false)
    expect(await policies.canAccess('posts', 'edit', { id: 'root' }, { author: 'ann' })).toBe(true)
  })

  test('is a function of its own: the marked one can be another manager’s check of a route', async () => {
    const check = () => true
    forResource(check)
    await using server = serverWith(check).server
    ;(await server.inject.put('/posts/1')).assertStatus(200)
    expect(() => forResource('x' as never)).toThrow('the option "forResource"')
  })
})

test.each<[string, unknown]>([
  ['none', () => true],
  ['the user', (_user: User) => true],
  ['one without brackets', async (_user: User) => true],
  ['the user and the request', (_user: User, _req: unknown) => true],
  ['both with defaults', (_user: User = guest, _req = { a: [1, 2, 3] }) => true],
  ['a rest alone', (..._args: unknown[]) => true],
  ['a pattern of many names', ({ a, b, c }: never, { d, e, f }: never) => [a, b, c, d, e, f].length === 6],
  ['a trailing comma', new Function('user', 'req', 'return true')],
  ['commas in its body', (user: User) => [1, 2, user].length === 3],
  ['a watch over any number', vi.fn(() => true)],
])('a check with %s guards a route', async (_what, check) => {
  const manager = new PolicyManager({ site: { check: check as () => boolean } }, { user: () => ({}) })
  await using server = new Server<{}>({ router: new RouteCollection() })
  server.get('/', { policy: { manager, scope: 'site', handler: 'check' } }, () => 1)
  ;(await server.inject.get('/')).assertStatus(200)
})
