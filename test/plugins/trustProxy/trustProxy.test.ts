import { RouteCollection, Server } from 'framework'
import { describe, expect, test } from 'vitest'
import { memoryLogger } from '../../support/kernel.ts'
import { quickest } from '../../support/quickest.ts'

function serverWith(trustProxy: unknown) {
  const server = new Server<{}>({
    plugins: { trustProxy } as {},
    router: new RouteCollection(),
    logger: memoryLogger(),
  })
  server.get('/', (req) => ({ ip: req.ip, url: req.url, protocol: req.protocol }))
  return server
}

interface Seen {
  ip: string
  url: string
  protocol: string
}

/** What a request with these headers from this peer looks like to a handler. */
async function seen(trustProxy: unknown, headers: Record<string, string>, ip = '10.0.0.1'): Promise<Seen> {
  const res = await serverWith(trustProxy).inject.get('/', { headers, ip })
  res.assertStatus(200)
  return res.body() as Seen
}

const spoof = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'evil.test',
  forwarded: 'for=203.0.113.9;proto=https;host=evil.test',
}
const trusting = { trustedProxies: ['10.0.0.0/8'] }

describe('trusted peers', () => {
  test('no peer without the plugin', async () => {
    expect(await seen(false, spoof)).toEqual({ ip: '10.0.0.1', url: 'http://localhost/', protocol: 'http' })
  })

  test('only trusted peers (spoofing by an untrusted one, CVE-2026-3635)', async () => {
    const plain = { ip: '192.0.2.7', url: 'http://localhost/', protocol: 'http' }
    for (const trustedProxies of [['10.0.0.0/8'], ['192.0.2.8'], ['loopback'], []]) {
      expect(await seen({ trustedProxies }, spoof, '192.0.2.7')).toEqual(plain)
      expect(await seen({ trustedProxies, header: 'forwarded' }, spoof, '192.0.2.7')).toEqual(plain)
    }
  })

  test('a trusted peer, for address, scheme and host', async () => {
    const reported = { ip: '203.0.113.9', url: 'https://evil.test/', protocol: 'https' }
    for (const trustedProxies of [['10.0.0.0/8'], ['10.0.0.1'], ['2001:db8::/32', 'uniquelocal'], 1, true]) {
      expect(await seen({ trustedProxies }, spoof)).toEqual(reported)
    }
  })

  test('one family of headers and never both', async () => {
    const both = { 'x-forwarded-for': '203.0.113.1', forwarded: 'for=203.0.113.2' }
    expect((await seen(trusting, both)).ip).toBe('203.0.113.1')
    expect((await seen({ ...trusting, header: 'forwarded' }, both)).ip).toBe('203.0.113.2')
  })

  test('a peer without a known address only by number or true', async () => {
    expect((await seen(trusting, spoof, '')).ip).toBe('')
    expect((await seen({ trustedProxies: 1 }, spoof, '')).ip).toBe('203.0.113.9')
  })
})

describe('the client is the right-most address that is not trusted', () => {
  test('leading entries of a client are not trusted', async () => {
    const headers = { 'x-forwarded-for': '127.0.0.1, 198.51.100.1, 203.0.113.9, 10.1.1.1' }
    expect((await seen(trusting, headers)).ip).toBe('203.0.113.9')
    expect((await seen({ trustedProxies: 1 }, headers)).ip).toBe('10.1.1.1')
    expect((await seen({ trustedProxies: 2 }, headers)).ip).toBe('203.0.113.9')
    expect((await seen({ trustedProxies: true }, headers)).ip).toBe('127.0.0.1')
  })

  test('a chain that is trusted to its end begins at its end', async () => {
    expect((await seen(trusting, { 'x-forwarded-for': '10.3.3.3, 10.2.2.2' })).ip).toBe('10.3.3.3')
    expect((await seen(trusting, {})).ip).toBe('10.0.0.1')
    expect((await seen({ trustedProxies: 9 }, { 'x-forwarded-for': '203.0.113.9' })).ip).toBe('203.0.113.9')
  })

  test('scheme and host are those that the farthest trusted proxy wrote', async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.9, 10.1.1.1',
      'x-forwarded-proto': 'http, https, http',
      'x-forwarded-host': 'forged.test, shop.test, inner.test',
    }
    expect(await seen(trusting, headers)).toMatchObject({ url: 'https://shop.test/' })
    expect(await seen({ trustedProxies: 1 }, headers)).toMatchObject({ url: 'http://inner.test/' })
    const overwritten = { ...headers, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.test' }
    expect(await seen(trusting, overwritten)).toMatchObject({ url: 'https://shop.test/' })
  })

  test('a client that forges a longer list gains nothing', async () => {
    const headers = {
      'x-forwarded-for': '10.9.9.9, 10.8.8.8, 203.0.113.9',
      'x-forwarded-proto': 'https, https, http',
      'x-forwarded-host': 'forged.test, forged.test, shop.test',
    }
    expect(await seen(trusting, headers)).toEqual({ ip: '203.0.113.9', url: 'http://shop.test/', protocol: 'http' })
  })
})

describe('entries', () => {
  test.each([
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001', '2001:db8::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    ['[::ffff:203.0.113.9]:80', '203.0.113.9'],
    ['\t 203.0.113.9 \t', '203.0.113.9'],
    [', ,203.0.113.9, ,', '203.0.113.9'],
  ])('%j is %s (spellings of one address, CVE-2026-39409, CVE-2026-47674)', async (entry, address) => {
    expect((await seen(trusting, { 'x-forwarded-for': entry })).ip).toBe(address)
  })

  test.each([
    'unknown',
    '_hidden',
    '256.1.1.1',
    '1.2.3.400',
    '1.2.3',
    '0x7f.0.0.1',
    '010.0.0.1',
    '2130706433',
    '1.2.3.4:port',
    '1.2.3.4:123456',
    '[::1',
    '[::1]x',
    '::1]',
    ':::',
    '%',
    '"',
    '<script>',
    '__proto__',
    'constructor',
    'a'.repeat(100_000),
  ])('%.20j is not an address: the proxy that wrote it counts (octets above 255, CVE-2026-24398)', async (entry) => {
    expect((await seen(trusting, { 'x-forwarded-for': entry })).ip).toBe('10.0.0.1')
    expect((await seen(trusting, { 'x-forwarded-for': `203.0.113.1, ${entry}, 10.2.2.2` })).ip).toBe('10.2.2.2')
  })

  test('trusted ranges hold for every spelling, also of the peer', async () => {
    expect(await seen(trusting, spoof, '::ffff:10.0.0.1')).toMatchObject({ ip: '203.0.113.9' })
    expect(await seen(trusting, spoof, '::ffff:192.0.2.1')).toMatchObject({ ip: '192.0.2.1' })
    const six = { trustedProxies: ['2001:db8::/32'] }
    expect(await seen(six, spoof, '2001:0DB8:0::1')).toMatchObject({ ip: '203.0.113.9' })
    expect(await seen(six, spoof, '2001:db9::1')).toMatchObject({ ip: '2001:db9::1' })
    expect(await seen({ trustedProxies: ['::ffff:10.0.0.1'] }, spoof)).toMatchObject({ ip: '203.0.113.9' })
    expect(await seen({ trustedProxies: ['::ffff:10.0.0.0/104'] }, spoof)).toMatchObject({ ip: '203.0.113.9' })
  })

  test('a wide range of IPv6 trusts no address of IPv4', async () => {
    const wide = { trustedProxies: ['::/1', '::/8'] }
    expect(await seen(wide, spoof, '::1')).toMatchObject({ ip: '203.0.113.9' })
    expect(await seen(wide, spoof, '::ffff:192.0.2.1')).toMatchObject({ ip: '192.0.2.1' })
    expect(await seen(wide, spoof, '192.0.2.1')).toMatchObject({ ip: '192.0.2.1' })
  })

  test('an invalid scheme is ignored, one of websockets counts', async () => {
    for (const proto of ['ftp', '', 'https:', 'javascript', '__proto__', 'constructor', 'h t t p s']) {
      expect((await seen(trusting, { 'x-forwarded-proto': proto })).protocol).toBe('http')
    }
    for (const proto of ['HTTPS', 'wss']) {
      expect((await seen(trusting, { 'x-forwarded-proto': proto })).protocol).toBe('https')
    }
  })

  test('an invalid host is 400 (Host: evil:x@good, CVE-2026-27959)', async () => {
    for (const host of ['evil:x@good.test', 'a b', 'a/b', 'a?b', 'a#b', 'http://a', '[::1', 'a:b']) {
      const server = serverWith(trusting)
      const res = await server.inject.get('/', { headers: { 'x-forwarded-host': host }, ip: '10.0.0.1' })
      res.assertStatus(400).assertBodySubset({ code: 'BadRequestError' })
    }
  })

  test('an empty host is invalid', async () => {
    expect((await seen(trusting, { 'x-forwarded-host': ' , ' })).url).toBe('http://localhost/')
  })
})

describe('Forwarded (RFC 7239)', () => {
  const options = { ...trusting, header: 'forwarded' }

  test.each([
    ['for=203.0.113.9', '203.0.113.9', 'http://localhost/'],
    ['For="[2001:db8:CAFE::17]:4711"', '2001:db8:cafe::17', 'http://localhost/'],
    ['for=203.0.113.9;proto=https;by=203.0.113.43;host="shop.test:8443"', '203.0.113.9', 'https://shop.test:8443/'],
    ['for=1.1.1.1;proto=http, for=203.0.113.9;proto=https, for=10.2.2.2', '203.0.113.9', 'https://localhost/'],
    ['for="a\\"b, c", for=203.0.113.9', '203.0.113.9', 'http://localhost/'],
    // Empty members of a list and empty pairs are legal.
    ['for=203.0.113.9, , for=10.2.2.2', '203.0.113.9', 'http://localhost/'],
    [', for=203.0.113.9 ,, \t', '203.0.113.9', 'http://localhost/'],
    ['for=203.0.113.9;;proto=https; , for=10.2.2.2;;', '203.0.113.9', 'https://localhost/'],
    ['for=203.0.113.9;;for=203.0.113.8, for=10.2.2.2', '10.2.2.2', 'http://localhost/'],
    // An element without an address was written by a proxy, which then is the client.
    ['for=203.0.113.9, ;, for=10.2.2.2', '10.2.2.2', 'http://localhost/'],
    ['for=203.0.113.9, by=10.2.2.2', '10.0.0.1', 'http://localhost/'],
    ['for=203.0.113.9;for="203.0.113.8, x", for=10.2.2.2', '10.2.2.2', 'http://localhost/'],
    ['for=unknown', '10.0.0.1', 'http://localhost/'],
    ['for="_gazonk"', '10.0.0.1', 'http://localhost/'],
  ])('%s', async (forwarded, ip, url) => {
    expect(await seen(options, { forwarded })).toMatchObject({ ip, url })
  })

  test.each([
    'for',
    'for=',
    '=',
    ';',
    'for="',
    'for="a',
    'for=a b',
    'for=1.1.1.1;for=2.2.2.2',
    'for=1.1.1.1;;=',
    '\\',
  ])('the malformed %s says nothing, and does not hide what a proxy adds', async (bad) => {
    expect(await seen(options, { forwarded: bad })).toMatchObject({ ip: '10.0.0.1', url: 'http://localhost/' })
    for (const added of ['for=203.0.113.9;proto=https', 'for="203.0.113.9";proto="https"']) {
      expect(await seen(options, { forwarded: `${bad}, ${added}` })).toMatchObject({
        ip: '203.0.113.9',
        protocol: 'https',
      })
    }
  })
})

describe('hostile lengths (quadratic parsing, CVE-2025-25200)', () => {
  const many = (entry: string, length = 10_000) => Array.from({ length }, () => entry).join(', ')
  test.each([
    ['10 000 trusted addresses', many('10.0.0.1')],
    ['10 000 clients', many('203.0.113.9')],
    ['10 000 pieces of junk', many('junk')],
    ['100 kB of blanks', ' '.repeat(100_000)],
    ['100 kB of blanks between', `203.0.113.9,${' '.repeat(100_000)}10.0.0.2`],
    ['100 kB of commas', ','.repeat(100_000)],
    ['100 kB of colons', ':'.repeat(100_000)],
    ['quotes', many('for="\\')],
    ['open quotes', 'for="'.repeat(3_000)],
    ['empty elements and pairs', ' ,\t;'.repeat(4_000)],
    ['16 kB of blanks', ' '.repeat(16_000)],
    ['a long pair without an end', `for=${'1'.repeat(16_000)} x`],
    ['elements', many('for=10.0.0.1;proto=https', 600)],
  ])('%s take less than 5 ms', async (_name, value) => {
    for (const header of ['x-forwarded', 'forwarded']) {
      const server = serverWith({ ...trusting, header })
      const headers = { 'x-forwarded-for': value, 'x-forwarded-proto': value, forwarded: value }
      await server.inject.get('/', { headers, ip: '10.0.0.1' })
      const { ms } = await quickest(() => server.inject.get('/', { headers, ip: '10.0.0.1' }), 5, 5)
      expect(ms).toBeLessThan(5)
    }
  })
})

describe('options', () => {
  test.each([
    [true, /trustProxy\.trustedProxies/],
    [{}, /trustProxy\.trustedProxies/],
    [{ trustedProxies: false }, /true$/],
    [{ trustedProxies: '10.0.0.1' }, /list/],
    [{ trustedProxies: 0 }, /1 to 64/],
    [{ trustedProxies: 1.5 }, /1 to 64/],
    [{ trustedProxies: ['10.0.0.256'] }, /10\.0\.0\.256/],
    [{ trustedProxies: ['10.0.0.0/33'] }, /10\.0\.0\.0\/33/],
    [{ trustedProxies: ['10.0.0.0/0'] }, /10\.0\.0\.0\/0/],
    [{ trustedProxies: ['10.0.0.0/8/8'] }, /10\.0\.0\.0\/8\/8/],
    [{ trustedProxies: ['10.0.0.0/255.0.0.0'] }, /255/],
    // Meant for a part of the IPv4 addresses, and would have all of them in it.
    [{ trustedProxies: ['::ffff:10.0.0.0/16'] }, /::ffff:10\.0\.0\.0\/16/],
    [{ trustedProxies: ['::ffff:0:0/96'] }, /::ffff:0:0\/96/],
    [{ trustedProxies: ['010.0.0.1'] }, /010/],
    [{ trustedProxies: ['proxy.internal'] }, /proxy\.internal/],
    [{ trustedProxies: ['constructor'] }, /constructor/],
    [{ trustedProxies: [10] }, /10/],
    [{ trustedProxies: 1, header: 'via' }, /"x-forwarded" or "forwarded"/],
    [{ trustedProxies: 1, heder: 'forwarded' }, /trustProxy\.heder/],
    [
      { trustedProxies: ['10.0.0.1', 'a', '10/8'], header: 5 },
      /3 options are wrong:\n.*Proxies\[1\].*\n.*Proxies\[2\].*\n.*header/,
    ],
  ])('%j is refused when the server is made', (options, message) => {
    expect(() => serverWith(options)).toThrow(message)
  })
})
