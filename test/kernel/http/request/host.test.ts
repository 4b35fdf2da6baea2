import { execFileSync } from 'node:child_process'
import { domainToASCII } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isValidHost } from '../../../../kernel/http/request/host.ts'
import { makeKernel, send } from '../../../support/kernel.ts'
import { withTypeScript } from '../../../support/typescript-process.ts'

const valid = [
  ...['a', 'A.b', 'a.b:80', 'a:', 'a.', 'a.:8080', 'a_b', '-a-', 'a--b', '1a', 'a.1b', 'x'.repeat(63)],
  ...['127.0.0.1', '255.255.255.255:65535', '0.0.0.0', '[::1]', '[::1]:8080', '[2001:DB8::ffff:1.2.3.4]', 'x:0'],
  ...['xn--bcher-kva.example', 'XN--BCHER-KVA.example', 'localhost:3000'],
]
const invalid = [
  ...[
    '',
    '.',
    'a..b',
    '.a',
    'a b',
    'a/b',
    'a\\b',
    'u@a',
    'a, b',
    'a%',
    'a%41',
    "a'b",
    'a*',
    'a~',
    'a;b',
    'é',
    'a\0',
    'a\n',
  ],
  ...['x:99999', 'x:65536', 'x:-1', 'x:8o', 'x:8:8', 'x:000080', 'x'.repeat(64), `${'a.'.repeat(127)}b`],
  ...[
    '999.999.999.999',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '01.2.3.4',
    '1.2.3.4.',
    '1.2.3.4.5',
    'a.1',
    'a.0x',
  ],
  ...['[:::]', '[::1', '::1', '[1.2.3.4]', '[fe80::1%25eth0]', '[]', '[g::]', '[::1]x', 'xn--a', 'a.xn--0'],
]

describe('valid hosts', () => {
  test.each(valid)('%j is a host', (host) => {
    expect(isValidHost(host)).toBe(true)
    expect(new URL(`http://${host}/p?q`)).toMatchObject({ pathname: '/p', search: '?q', username: '' })
  })

  test.each(invalid)('%j is not a host', (host) => {
    expect(isValidHost(host)).toBe(false)
  })

  test('an empty host is not a host in a process that has seen no other', () => {
    const script = `import { isValidHost } from './kernel/http/request/host.ts'
      console.log(isValidHost(''))`
    const args = [...withTypeScript, '--input-type=module', '-e', script]
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('false\n')
  })

  test.each([
    ...[
      'bücher',
      '日本',
      'пример',
      'परीक्षा',
      'إختبار',
      'straße',
      '💩',
      '한국',
      'ไทย',
      'نامه\u200cای',
      'ශ්\u200dරී',
      'i❤',
    ],
  ])('%s in punycode is a host', (name) => {
    const host = domainToASCII(`${name}.example`)
    expect(host).toMatch(/^xn--/)
    expect(isValidHost(host)).toBe(true)
  })

  // Some runtimes make a URL of each of these.
  test.each([
    ...[
      'xn--',
      'xn---',
      'xn--a',
      'xn--0',
      'xn--abc-',
      'xn--bcher-kva-',
      'xn--bcher--kva9',
      'xn--99999999',
      'xn--u-ccb',
      'xn--1ug',
    ],
  ])('%s is not punycode, and not a host', (host) => {
    expect(isValidHost(host)).toBe(false)
    expect(isValidHost(`a.${host}.example:80`)).toBe(false)
  })

  test('every random text that is a host makes a URL of that host alone', () => {
    const pieces = [
      ...[
        'a',
        'B',
        'xn--',
        'XN--',
        '-',
        '_',
        '.',
        '.',
        ':',
        '80',
        '0',
        '1',
        '255',
        '256',
        '0x',
        'f',
        '99999',
        'é',
        '%',
        '%41',
      ],
      ...[
        '[',
        ']',
        '::',
        '@',
        '/',
        '\\',
        '?',
        '#',
        ' ',
        ',',
        '~',
        '*',
        '!',
        '&',
        ';',
        '\t',
        '\0',
        'bcher-kva',
        '127.0.0.1',
        '[::1]',
      ],
    ]
    let seed = 5
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      return (seed >>> 8) % below
    }
    let found = 0
    const faults: unknown[] = []
    for (let i = 0; i < 40_000; i++) {
      const host = Array.from({ length: random(6) }, () => pieces[random(pieces.length)]).join('')
      if (!isValidHost(host)) continue
      found++
      const url = new URL(`http://${host}/p?q`)
      const rest = [url.pathname, url.search, url.hash, url.username, url.password].join(' ')
      // No second spelling of a name or an IPv4 address but the case of its letters.
      const isSame = host.startsWith('[') || url.hostname === host.replace(/:\d*$/, '').toLowerCase()
      if (rest !== '/p ?q   ' || !isSame) faults.push([host, url.href])
    }
    expect(faults).toEqual([])
    expect(found).toBeGreaterThan(2_000)
  })
})

describe('the host of a request', () => {
  const ask = async (url: string, headers: Record<string, string>) => {
    const { kernel, router } = makeKernel()
    router.get('/x', (req) => ({ url: req.url, host: new URL(req.url).host }))
    const { status, json } = await send(kernel, url, 'GET', { headers })
    return { status, ...(json as object) }
  }

  test('is that of an absolute target, whatever Host says', async () => {
    expect(await ask('http://target.test:81/x?a', { host: 'header.test' })).toEqual({
      status: 200,
      url: 'http://target.test:81/x?a',
      host: 'target.test:81',
    })
  })

  test.each([
    ['http://user:word@target.test/x', 'header.test'],
    ['http://a..b/x', 'header.test'],
    ['http:///x', 'header.test'],
    ['http://target.test/x', 'a b'],
    ['http://target.test/x', 'one.test, two.test'],
    ['http://target.test/x', ''],
  ])('that asks for %s with the Host %j is not valid: 400', async (url, host) => {
    expect(await ask(url, { host })).toMatchObject({ status: 400, code: 'BadRequestError' })
  })

  test('is left out of the address that middlewares see of a request which is refused for it', async () => {
    const { kernel } = makeKernel()
    const seen: string[] = []
    kernel.use((req, _res, next) => {
      seen.push(new URL(req.url).href)
      return next()
    })
    expect((await send(kernel, '/x?a', 'GET', { headers: { host: 'a:99999' } })).status).toBe(400)
    expect(seen).toEqual(['http://localhost/x?a'])
  })
})
