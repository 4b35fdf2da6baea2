import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { parseTarget } from '../../../../kernel/http/request/target.ts'

/** The result of the URL standard, the rule that every runtime shares. */
function standard(target: string): { path: string; query: string } | undefined {
  try {
    const url = new URL(`http://h${target}`)
    return { path: url.pathname, query: url.search.slice(1) }
  } catch {
    return undefined
  }
}

test.each([
  '/',
  '/a',
  '/a/',
  '/a?b=c',
  '/a?',
  '/a?b?c',
  '/a/../b',
  '/a/./b',
  '/a/..',
  '/a/.',
  '/../../x',
  '/a/%2e%2e/b',
  '/a/%2E./b',
  '/a/.%2e/b',
  '/a\\..\\b',
  '/\\x',
  '/x#frag',
  '/x?q#frag',
  '//host/x',
  '//admin',
  '/;x',
  '/a;b=c/d',
  '/é',
  '/a b',
  '/"<>`{}|',
  "/a'b?c'd",
  '/.well-known/x',
  '/a..b/c.',
  '/...',
  '/%41',
  '/?a=%zz',
  '/x?ü=é',
  '/a%2Fb',
  '/~user/*',
  '/%7Euser',
])('%s is read as the URL standard reads it', (target) => {
  const read = parseTarget(target)
  expect(read && { path: read.sent, query: read.query }).toEqual(standard(target))
})

test.each([
  '',
  'x',
  '*',
  '/%',
  '/%zz',
  '/%ff',
  '/a%00b',
  '/\0',
  '/a\tb',
  '/a\n',
  'ftp://h/x',
  'h:80',
])('%j is refused', (target) => {
  expect(parseTarget(target)).toBeUndefined()
})

test.each([
  ['http://evil/admin?x=1', '/admin', 'x=1'],
  ['HTTPS://u:p@evil:8/admin', '/admin', ''],
  ['http://evil', '/', ''],
  ['http://evil?x', '/', 'x'],
  ['http://evil\\x', '/x', ''],
])('of the absolute form %s the path counts', (target, path, query) => {
  expect(parseTarget(target)).toMatchObject({ path, query })
})

/** Pieces of targets in which two readers may disagree. */
const alphabet = [
  ...[
    '/',
    '/',
    '.',
    '..',
    '%2e',
    '%2E',
    '\\',
    '?',
    '#',
    'a',
    'B',
    ';',
    '%41',
    '%2F',
    '%25',
    'é',
    ' ',
    '&',
    '=',
    "'",
    '"',
    '|',
  ],
  ...['~', ':', '@', '+'],
]
/** Further ones, each in more than one spelling. */
const spellings = [
  ...[
    '%61',
    '%0a',
    '%0D',
    '%7f',
    '%C2%85',
    '%c3%a9',
    '%E2%80%A8',
    '%5c',
    '%5C',
    '%5B',
    '[',
    '%7c',
    '%5e',
    '^',
    '%60',
    '`',
  ],
  ...['%7B', '{', '%22', '%3c', '<', '%2f', '%3f', '%23', '%252f', '%27', '%20', '%F0%9F%98%80', '😀'],
]

function randomTargets(count: number, pieces: readonly string[]): string[] {
  let seed = 99
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed % below
  }
  return Array.from(
    { length: count },
    () => `/${Array.from({ length: random(9) }, () => pieces[random(pieces.length)]).join('')}`,
  )
}

test('random targets are read as the URL standard reads them', () => {
  const faults: unknown[] = []
  for (const target of randomTargets(50_000, alphabet)) {
    const read = parseTarget(target)
    const [found, expected] = [read && { path: read.sent, query: read.query }, standard(target)]
    if (!isDeepStrictEqual(found, expected)) faults.push({ target, found, expected })
  }
  expect(faults).toEqual([])
})

test.each([
  ['/%61dmin/%73ecret', '/admin/secret'],
  ['/%7euser', '/~user'],
  ['/a%2fb%3Fc%23d%25e', '/a%2Fb%3Fc%23d%25e'],
  ['/%c3%a9/é', '/%C3%A9/%C3%A9'],
  ['/a%0d%0ab', '/a%0D%0Ab'],
  ['/%5c..%5cx', '/%5C..%5Cx'],
  ['/a%20b', '/a%20b'],
  ['/%2e%2e%2e/x', '/.../x'],
  ['/%5Ba%5D%7C%27%26', "/[a]|'&"],
  ['/%252e%252e/x', '/%252e%252e/x'],
])('the path of %s is %s in its one spelling', (target, path) => {
  expect(parseTarget(target)?.path).toBe(path)
})

test('of random targets two have the same path exactly when the router takes them for one', () => {
  const byPath = new Map<string, string>()
  const byMatch = new Map<string, string>()
  const faults: string[] = []
  for (const target of randomTargets(20_000, [...alphabet, ...spellings])) {
    const read = parseTarget(target)
    if (read === undefined) continue
    const { path, match } = read
    if ((byPath.get(path) ?? match) !== match || (byMatch.get(match) ?? path) !== path) faults.push(target)
    byPath.set(path, match)
    byMatch.set(match, path)
    // It is a path itself, the same one, and fit for a header and for a line of a log.
    const again = parseTarget(path)
    if (again?.path !== path || again.match !== match || again.sent !== path) faults.push(target)
    if (!/^[!-~]+$/.test(path)) faults.push(target)
  }
  expect(faults).toEqual([])
  expect(byPath.size).toBeGreaterThan(5_000)
})
