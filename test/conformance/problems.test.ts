import { expect, test } from 'vitest'
import { resultOf, runtimeKinds, type Target, usesNodeHttp } from './targets.ts'

interface Seen {
  readonly status: number
  readonly type: string | null
  readonly id: string | null
  readonly body: Record<string, unknown> | null
}

interface Described {
  readonly $ref?: string
  readonly content?: { readonly [type: string]: unknown }
}

interface Result {
  readonly seen: Readonly<Record<string, Seen>>
  readonly document: {
    readonly paths: {
      readonly [path: string]: {
        readonly [method: string]: { readonly responses: Readonly<Record<string, Described>> }
      }
    }
    readonly components: { readonly responses: Readonly<Record<string, Described>> }
  }
}

const kinds: Readonly<Record<string, [status: number, code: string]>> = {
  'no route': [404, 'RouteNotFoundError'],
  'no method': [405, 'MethodNotAllowedError'],
  'no json': [400, 'JsonNotValidError'],
  'too much json': [413, 'PayloadTooLargeError'],
  'another charset': [415, 'UnsupportedMediaTypeError'],
  'another type': [415, 'UnsupportedMediaTypeError'],
  'not valid': [422, 'ValidationError'],
  'a form that is not valid': [422, 'ValidationError'],
  'too much file': [413, 'FileTooLargeError'],
  'no user': [401, 'UnauthorizedError'],
  'a user': [403, 'ForbiddenError'],
  'an HttpError': [404, 'BOOK_NOT_FOUND'],
  'an http-errors': [409, 'ConflictError'],
  'a mistake': [500, 'INTERNAL_ERROR'],
  'a response that does not fit': [500, 'INTERNAL_ERROR'],
  'too late': [503, 'RequestTimeoutError'],
  'too often': [429, 'TooManyRequestsError'],
  'a store that is down': [503, 'SessionStoreError'],
  'being computed': [503, 'CacheLockedError'],
  'no file': [404, 'FileNotFoundError'],
  'no file of a handler': [404, 'FileNotFoundError'],
  'a dotfile': [403, 'FileForbiddenError'],
  'no such range': [416, 'RangeNotSatisfiableError'],
  'another version': [412, 'PreconditionFailedError'],
  'an address that is not signed': [403, 'StorageAddressError'],
  'too many headers': [431, 'HeaderTooLargeError'],
  'a malformed path': [400, 'BadRequestError'],
  'a mistake in process': [500, 'INTERNAL_ERROR'],
  'no route in process': [404, 'RouteNotFoundError'],
  'a mistake over a mistake': [500, 'INTERNAL_ERROR'],
}

/** What the parser of `node:http` refuses, and those of Bun and Deno refuse by themselves. */
const ofNodeHttp: typeof kinds = {
  'two hosts in one': [400, 'BadRequestError'],
  'no http': [400, 'BadRequestError'],
  'a tunnel': [405, 'MethodNotAllowedError'],
  'an expectation': [417, 'ExpectationFailedError'],
}
/** Bun itself neither counts header lines nor shows how many there were. */
const notOfBun = ['too many headers']
/** Without a request there is no id. */
const withoutRequest = ['no http', 'a tunnel']

/** Those of routes, for which the document describes the responses. */
const described: Readonly<Record<string, [method: string, path: string]>> = {
  'no json': ['post', '/names'],
  'too much json': ['post', '/names'],
  'another charset': ['post', '/names'],
  'not valid': ['post', '/names'],
  'too much file': ['post', '/files'],
  'no user': ['get', '/admin'],
  'a user': ['get', '/admin'],
  'an HttpError': ['get', '/books/{id}'],
  'too late': ['get', '/late'],
  'too often': ['get', '/limited'],
  'being computed': ['get', '/slow'],
}

const problem = 'application/problem+json'

function checkProblem(kind: string, seen: Seen | undefined, [status, code]: [number, string]): void {
  expect(seen, kind).toMatchObject({ status, type: problem, body: { type: 'about:blank', status, code } })
  const { body, id } = seen!
  expect(body!.title, kind).toMatch(/^[A-Z][A-Za-z -]+$/)
  expect(body, kind).not.toHaveProperty('message')
  expect(JSON.stringify(body), kind).not.toMatch(/secret|stack|cause|problems-/)
  if (withoutRequest.includes(kind)) expect(body, kind).not.toHaveProperty('instance')
  else expect(body!.instance, kind).toBe(`urn:request:${id}`)
}

const seenOn = async (target: Target) =>
  (await resultOf(target, 'problems.mjs', [target.adapter ?? '', String(usesNodeHttp(target))])) as Result

test.each(
  runtimeKinds.map((target) => [target.name, target] as const),
)('every failure is a problem on %s, and described so', async (_name, target) => {
  const { seen, document } = await seenOn(target)
  const all = usesNodeHttp(target) ? { ...kinds, ...ofNodeHttp } : kinds
  for (const [kind, expected] of Object.entries(all)) {
    if (target.name !== 'bun' || !notOfBun.includes(kind)) checkProblem(kind, seen[kind], expected)
  }
  expect(seen['an HttpError']!.body).toMatchObject({ detail: 'no such book', shelf: 3 })
  expect(seen['not valid']!.body).toMatchObject({ errors: [{ part: 'body', path: '/name' }] })
  expect(seen['a HEAD']).toMatchObject({ status: 404, type: problem, body: null })
  for (const [kind, [method, path]] of Object.entries(described)) {
    const said = document.paths[path]![method]!.responses[String(all[kind]![0])]
    const name = said?.$ref?.slice('#/components/responses/'.length)
    const whole = name === undefined ? said : document.components.responses[name]
    expect(Object.keys(whole?.content ?? {}), kind).toEqual([problem])
  }
})
