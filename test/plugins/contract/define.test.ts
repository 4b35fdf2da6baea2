import { type Contract, contractClient, defineContract } from 'framework/contract'
import { describe, expect, test } from 'vitest'

const schema = { type: 'object' }

describe('a contract', () => {
  test('is the given object', () => {
    const contract = { one: { method: 'GET', path: '/one' } } as const
    expect(defineContract(contract)).toBe(contract)
  })

  test.each<[object, string]>([
    [{ one: { method: 'GET', path: 'one' } }, 'the route one of the contract: the path "one" does not begin'],
    [{ one: { method: 'GET', path: '/:a/:a' } }, 'has the parameter "a" twice'],
    [{ one: { method: 'GET' } }, 'is not a string'],
    [{ one: { method: 'FETCH', path: '/one' } }, 'its method is one of GET, HEAD, POST'],
    [{ one: { method: 'GET', path: '/one', body: schema } }, 'a GET request has no body'],
    [{ one: { method: 'POST', path: '/one', body: 'text' } }, 'its body is a schema'],
    [{ one: { method: 'POST', path: '/one', idempotency: { ttl: 5 } } }, 'its idempotency is true; pass its details'],
    [{ one: { method: 'POST', path: '/one', idempotency: false } }, 'its idempotency is true'],
    [{ one: { method: 'POST', path: '/one', responses: { ok: schema } } }, '"ok" in its responses is not a status'],
    [{ one: { method: 'POST', path: '/one', responses: null } }, 'its responses are schemas by status'],
    [
      { one: { method: 'GET', path: '/one', qery: schema } },
      '"qery" is not a member of a route. Did you mean "query"?',
    ],
    [
      { one: { method: 'GET', path: '/a/:x' }, two: { method: 'GET', path: '/a/:y/' } },
      'GET /a/:y/ is the route one as well',
    ],
    [{ one: 5 }, 'the route one of the contract: a route is an object'],
    // biome-ignore lint/suspicious/noThenProperty: what is refused
    [{ then: { method: 'GET', path: '/then' } }, 'would be taken for a promise'],
    [{ [Symbol('one')]: { method: 'GET', path: '/one' } }, 'its name is a symbol'],
    [[], 'a contract is an object of routes'],
  ])('is refused where it is wrong: %j', (contract, message) => {
    const wrong = expect.objectContaining({ code: 'ContractError', message: expect.stringContaining(message) })
    expect(() => defineContract(contract as {})).toThrow(wrong)
    expect(() => contractClient(contract as Contract)).toThrow(wrong)
  })

  test('may have one path with several methods', () => {
    expect(() =>
      defineContract({ read: { method: 'GET', path: '/one/:id?' }, add: { method: 'POST', path: '/one' } }),
    ).not.toThrow()
    expect(() =>
      defineContract({ read: { method: 'GET', path: '/one/:id?' }, list: { method: 'GET', path: '/one' } }),
    ).toThrow('GET /one is the route read as well')
  })
})
