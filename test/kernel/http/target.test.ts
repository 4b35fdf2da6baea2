import { expect, test } from 'vitest'
import { parseTarget } from '../../../kernel/http/target.ts'

/** What the URL standard makes of it, the rule that every runtime shares. */
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
  expect(read && { path: read.path, query: read.query }).toEqual(standard(target))
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

test('random targets are read as the URL standard reads them', () => {
  const alphabet = [
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
    '~',
    ':',
    '@',
    '+',
  ]
  let seed = 99
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed % below
  }
  for (let i = 0; i < 50_000; i++) {
    const target = `/${Array.from({ length: random(9) }, () => alphabet[random(alphabet.length)]).join('')}`
    const read = parseTarget(target)
    expect({ target, ...(read && { path: read.path, query: read.query }) }).toEqual({ target, ...standard(target) })
  }
})
