/**
 * What a vector must lead to: `refused` is a response of 400 or above or a closed connection, with nothing executed; a
 * list is exactly the statuses that may come first.
 */
export type Expectation = 'refused' | readonly number[]

/** Bytes that a client may send, and the required result. */
export interface Vector {
  readonly id: string
  readonly name: string
  readonly data: string
  readonly expect: Expectation
}

const post = 'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
/** Follows each request that frames its body in a doubtful way; the application reports when it has run. */
const second = 'GET /second HTTP/1.1\r\nHost: x\r\n\r\n'

const vector =
  (id: string) =>
  (name: string, data: string, expect: Expectation = 'refused') => ({ id, name, data, expect })
const framing = vector('HT-02')
const lengths = (name: string, header: string) => framing(name, `${post}${header}\r\n\r\n${second}`)
const chunked = (name: string, body: string) =>
  framing(name, `${post}Transfer-Encoding: chunked\r\n\r\n${body}${second}`)

const framings: Vector[] = [
  framing(
    'content-length and chunked',
    `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
  ),
  framing(
    'chunked and content-length',
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${second}`,
  ),
  framing(
    'chunked and content-length 0',
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n${second}`,
  ),
  framing(
    'chunks in HTTP/1.0',
    `${post.replace('1.1', '1.0')}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${second}`,
  ),
  lengths('two lengths', 'Content-Length: 0\r\nContent-Length: 35'),
  lengths('two lengths, the larger first', 'Content-Length: 35\r\nContent-Length: 0'),
  lengths('list of lengths', 'Content-Length: 0, 35'),
  lengths('signed length', 'Content-Length: +0'),
  lengths('negative length', 'Content-Length: -1'),
  lengths('hexadecimal length', 'Content-Length: 0x0'),
  lengths('two numbers', 'Content-Length: 0 0'),
  lengths('fraction', 'Content-Length: 0.0'),
  lengths('empty length', 'Content-Length:'),
  lengths('length in letters', 'Content-Length: zero'),
  lengths('overflowing length', 'Content-Length: 99999999999999999999'),
  lengths('blank before the colon', 'Content-Length : 0'),
  lengths('unknown coding', 'Transfer-Encoding: xchunked'),
  lengths('chunked is not last', 'Transfer-Encoding: chunked, identity'),
  lengths('quoted coding', 'Transfer-Encoding: "chunked"'),
  lengths('vertical tab before the coding', 'Transfer-Encoding: \x0bchunked'),
  lengths('blank before the colon of the coding', 'Transfer-Encoding : chunked'),
  chunked('negative chunk', '-1\r\n\r\n'),
  chunked('hexadecimal prefix', '0x0\r\n\r\n'),
  chunked('not a digit', 'g\r\n\r\n'),
  chunked('no size', '\r\n\r\n'),
  chunked('blank after the size', '2 \r\n{}\r\n0\r\n\r\n'),
  chunked('overflowing chunk', 'ffffffffffffffffff\r\n{}\r\n0\r\n\r\n'),
  chunked('chunk longer than it says', '1\r\n{}\r\n0\r\n\r\n'),
  chunked('bare line feeds', '2\n{}\n0\n\n'),
  chunked('extension of 100 kB', `2;${'x'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`),
]

const get = (path: string, headers = 'Host: x\r\n') => `GET ${path} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`
const host = vector('HT-03')
const hosts: Vector[] = [
  host('two Hosts', get('/hello', 'Host: x\r\nHost: y\r\n'), [400]),
  host('the same Host twice', get('/hello', 'Host: x\r\nHost: x\r\n'), [400]),
  host('no Host', get('/hello', ''), [400]),
  host('empty Host', get('/hello', 'Host:\r\n'), [400]),
  host('Host with a blank', get('/hello', 'Host: a b\r\n'), [400]),
  host('Host with a path', get('/hello', 'Host: a/b\r\n'), [400]),
  host('Host with a user', get('/hello', 'Host: a@b\r\n'), [400]),
  host('Host with a list', get('/hello', 'Host: a, b\r\n'), [400]),
  host('Host with a query', get('/hello', 'Host: a?b\r\n'), [400]),
  host('Host with a backslash', get('/hello', 'Host: a\\b\r\n'), [400]),
  host('port in letters', get('/hello', 'Host: a:b\r\n'), [400]),
  host('Host with a port', get('/hello', 'Host: a:80\r\n'), [200]),
  host('IPv6 Host', get('/hello', 'Host: [::1]:80\r\n'), [200]),
]

const method = vector('HT-11')
const withMethod = (name: string, path = '/hello') => `${name} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
const methods: Vector[] = [
  method('lower case get', withMethod('get')),
  method('mixed case', withMethod('Get')),
  method('TRACE', withMethod('TRACE')),
  method('CONNECT to an authority', withMethod('CONNECT', 'x:80')),
  method('CONNECT to a path', withMethod('CONNECT')),
  method('PROPFIND', withMethod('PROPFIND')),
  method('unknown method', withMethod('BREW')),
  method('method of 300 letters', withMethod('A'.repeat(300))),
  method('leading blank', ` ${withMethod('GET')}`),
  method('OPTIONS without a route', withMethod('OPTIONS'), [405]),
]

const target = vector('HT-01')
const targets: Vector[] = [
  target('absolute form', get('http://elsewhere/hello'), [200]),
  target('absolute form in capitals', get('HTTP://ELSEWHERE/hello'), [200]),
  target('another scheme', get('ftp://elsewhere/hello'), [400]),
  target('asterisk', get('*'), [400]),
  target('no leading slash', get('hello'), [400]),
  target('NUL', get('/\0')),
  target('escaped NUL', get('/users/%00'), [400]),
  target('bad escape', get('/users/%zz'), [400]),
  target('cut escape', get('/users/%'), [400]),
  target('not UTF-8', get('/users/%ff'), [400]),
  target('blank', get('/users/a b')),
  target('tab', get('/users/a\tb')),
  target('escaped slash stays one segment', get('/users/a%2fb'), [200]),
]

const version = vector('HT-01')
const versions: Vector[] = [
  version('HTTP/9.9', 'GET /hello HTTP/9.9\r\nHost: x\r\n\r\n'),
  version('lower case version', 'GET /hello http/1.1\r\nHost: x\r\n\r\n'),
  version('no version', 'GET /hello\r\nHost: x\r\n\r\n'),
  version('HTTP/1.0 without Host', 'GET /hello HTTP/1.0\r\n\r\n', [200]),
  version('leading line break', `\r\n${get('/hello')}`, [200]),
]

const line = vector('HT-01')
const withHeader = (header: string) => `GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`
const lines: Vector[] = [
  line('NUL in a value', withHeader('a: b\0c')),
  line('bare carriage return', withHeader('a: b\rc')),
  line('bare line feed between headers', withHeader('a: b\nc: d')),
  line('folded header', withHeader('a: b\r\n c')),
  line('no colon', withHeader('abc')),
  line('empty name', withHeader(': abc')),
  line('blank in a name', withHeader('a b: c')),
  line('bracket in a name', withHeader('a[b: c')),
  line('raw UTF-8 in a name', withHeader('\xc3\xa9: c')),
]

const size = vector('HT-07')
const sizes: Vector[] = [
  size('target of 20 kB', get(`/${'x'.repeat(20_000)}`), [414, 431]),
  size('header of 20 kB', withHeader(`a: ${'x'.repeat(20_000)}`), [431]),
  size('2500 headers', withHeader(Array.from({ length: 2500 }, (_, i) => `a${i}:1`).join('\r\n')), [431]),
  size('1500 short headers', withHeader(Array.from({ length: 1500 }, () => 'a:1').join('\r\n')), [431]),
  size('header of 1 MB', withHeader(`a: ${'x'.repeat(1_000_000)}`)),
]

const protocol = vector('HT-13')
const protocols: Vector[] = [
  protocol('HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  protocol('h2c', withHeader('Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__'), [200]),
  protocol(
    'websocket',
    'GET /hello HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n',
    [200, 426],
  ),
  protocol('TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  protocol('rubbish', '\x00\x01\x02\xff\xfe\r\n\r\n'),
]

/** The whole corpus. */
export const corpus: readonly Vector[] = [
  ...framings,
  ...hosts,
  ...methods,
  ...targets,
  ...versions,
  ...lines,
  ...sizes,
  ...protocols,
]
