import { isDeepStrictEqual } from 'node:util'
import { RouteCollection } from 'framework/kernel'
import { expect, test } from 'vitest'
import { RouteTable } from '../../../kernel/routing/table.ts'
import { isLong } from '../../support/long.ts'
import { quickest } from '../../support/quickest.ts'

let seed = 20_260_101
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed % below
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!

const words = ['a', 'b', 'ab', 'users', 'é', '1']
const methods = ['GET', 'POST', 'DELETE'] as const

function randomPattern(): string {
  const parts: string[] = []
  const length = random(5)
  for (let i = 0; i < length; i++) parts.push(random(3) === 0 ? `:p${i}` : pick(words))
  if (random(4) === 0) parts.push('*')
  return `/${parts.join('/')}`
}

function randomPath(): string {
  const parts = Array.from({ length: random(6) }, () => (random(12) === 0 ? '' : pick([...words, 'zzz', 'c'])))
  return `/${parts.join('/')}`
}

type Result = { pattern: string; params: Record<string, string> } | undefined

/** The rules, as slowly and as plainly as they can be written. */
function oracle(patterns: readonly string[], path: string): Result {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  return (
    search(patterns, trimmed, path.length - trimmed.length) ??
    (trimmed === path ? undefined : search(patterns, path, 0))
  )
}

function search(patterns: readonly string[], path: string, cut: number): Result {
  const parts = path === '/' ? [] : path.slice(1).split('/')
  const found: { order: string; result: NonNullable<Result> }[] = []
  for (const pattern of patterns) {
    const segments = pattern === '/' ? [] : pattern.slice(1).split('/')
    const wild = segments.at(-1) === '*'
    const given = path === '/' && wild && segments.length === 1 ? [''] : parts
    if (wild ? given.length < segments.length : given.length !== segments.length) continue
    const params: Record<string, string> = {}
    let order = ''
    const fits = segments.every((segment, i) => {
      if (segment === '*') {
        order += '2'
        params['*'] = given.slice(i).join('/') + (cut === 1 ? '/' : '')
        return true
      }
      if (segment.startsWith(':')) {
        order += '1'
        params[segment.slice(1)] = given[i]!
        return given[i] !== ''
      }
      order += '0'
      return segment === given[i]
    })
    if (fits) found.push({ order, result: { pattern, params } })
  }
  found.sort((one, two) => (one.order < two.order ? -1 : 1))
  return found[0]?.result
}

const sets = isLong ? 200 : 50

test(`${sets} random sets of routes answer 200 random paths each as the plain rules do`, () => {
  let compared = 0
  for (let set = 0; set < sets; set++) {
    const routes = new RouteCollection()
    const patterns: Record<string, string[]> = { GET: [], POST: [], DELETE: [] }
    for (let i = 0; i < 12; i++) {
      const method = pick(methods)
      const pattern = randomPattern()
      try {
        routes.add(method, pattern, {}, () => {})
        patterns[method]!.push(pattern)
      } catch (error) {
        expect((error as { code?: string }).code).toBe('DuplicateRouteError')
      }
    }
    const table = new RouteTable<string>()
    for (const record of routes.routes) table.add(record, record.path)
    for (let i = 0; i < 200; i++) {
      const path = randomPath()
      const allowed: string[] = []
      for (const method of methods) {
        const expected = oracle(patterns[method]!, path)
        if (expected !== undefined) allowed.push(method)
        const match = table.match(method, path)
        const actual = match === undefined ? undefined : { pattern: match.target, params: { ...match.params } }
        compared++
        // A hundred thousand calls of `expect` take three times as long as all of this.
        if (isDeepStrictEqual(actual, expected)) continue
        expect({ patterns: patterns[method], path, found: actual }).toEqual({
          patterns: patterns[method],
          path,
          found: expected,
        })
      }
      if (!isDeepStrictEqual(table.allowed(path), allowed)) expect(table.allowed(path)).toEqual(allowed)
    }
  }
  expect(compared).toBe(600 * sets)
})

test('10 000 routes are compiled and found', () => {
  const routes = new RouteCollection()
  for (let i = 0; i < 10_000; i++) routes.add('GET', `/r${i % 100}/${i}/:id`, {}, () => {})
  const table = new RouteTable<string>()
  for (const record of routes.routes) table.add(record, record.path)
  for (let i = 0; i < 10_000; i += 7)
    expect(table.match('GET', `/r${i % 100}/${i}/x`)?.target).toBe(`/r${i % 100}/${i}/:id`)
})

test('a hostile path of 64 kB is answered at once', async () => {
  const routes = new RouteCollection()
  for (const path of ['/a/:x/b', '/a/:x/:y/c', '/a/*', '/:p/:q/:r/:s']) routes.add('GET', path, {}, () => {})
  const table = new RouteTable<string>()
  for (const record of routes.routes) table.add(record, record.path)
  for (const path of [
    `/a${'/x'.repeat(32_000)}`,
    '/'.repeat(64_000),
    `/a/${'%25'.repeat(21_000)}`,
    `/${'a'.repeat(64_000)}/b`,
  ]) {
    expect((await quickest(() => table.match('GET', path), 5, 50)).ms).toBeLessThan(50)
  }
})
