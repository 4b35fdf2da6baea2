import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { redact } from '../../../../plugins/shared/values/redact.ts'
import { cutText, redactText } from '../../../../plugins/shared/values/redact-text.ts'
import { isLong } from '../../../support/long.ts'

/** Numbers that are the same in each run. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const names = [
  'password',
  'DB_PASSWORD',
  'newPassword2',
  'passphrase',
  'client_secret',
  'accessToken',
  'x-api-key',
  'api key',
  'Authorization',
  'proxy-authorization',
  'Cookie',
  'set-cookie',
]
const base64 = (text: string) => Buffer.from(text).toString('base64')
const web = `${base64('{"alg":"HS256"}').replaceAll('=', '')}.${base64('{"sub":"hunter"}').replaceAll('=', '')}.sig-hunter`

/** What a secret is in, by structure. `name` is that of a secret, `open` the text around it, which stays. */
interface Structure {
  readonly secret: (characters: string) => string
  readonly text: (name: string, secret: string) => string
  readonly open: readonly string[]
}
const any = (characters: string) => `hunt${characters}ter-two words`
const oneWord = (characters: string) => `hunt${characters}ter`
const plain = () => 'hunter-2'
const oneName = (name: string) => name.replaceAll(' ', '_')

const structures: { readonly [kind: string]: Structure } = {
  'a dump of headers': {
    secret: any,
    text: (name, secret) => `host: shop.example\n${name}: ${secret}\nx-token: ${secret}\naccept: */*`,
    open: ['host: shop.example\n', '\naccept: */*'],
  },
  'a dump of headers with folded lines': {
    secret: any,
    text: (name, secret) => `host: shop.example\r\n${name}: a\r\n  ${secret}\r\naccept: */*`,
    open: ['host: shop.example\r\n', '\naccept: */*'],
  },
  'a header of several pairs': {
    secret: any,
    text: (_, secret) => `GET / HTTP/1.1\ncookie: theme=dark; sid=${secret}; a=${secret}\nhost: x`,
    open: ['GET / HTTP/1.1\n', '\nhost: x'],
  },
  environment: {
    secret: any,
    text: (name, secret) => `PORT=3000\n${oneName(name)}=${secret}\nHOST=shop`,
    open: ['PORT=3000\n', '\nHOST=shop'],
  },
  YAML: {
    secret: any,
    text: (name, secret) => `user: ada\n${oneName(name)}: |\n  ${secret}\n  ${secret}\nport: 1`,
    open: ['user: ada\n', '\nport: 1'],
  },
  JSON: {
    secret: any,
    text: (name, secret) =>
      JSON.stringify({ user: 'ada', [name]: secret, port: 1, [`x${name}`]: [[secret], 2], z: 'zed' }),
    open: ['"user":"ada"'],
  },
  'indented JSON': {
    secret: any,
    text: (name, secret) =>
      JSON.stringify({ user: 'ada', o: { [name]: [{ a: [secret] }], b: 'open' }, z: 'zed' }, null, 2),
    open: ['"user": "ada"', '"b": "open"', '"z": "zed"'],
  },
  'JSON in JSON in JSON': {
    secret: any,
    text: (name, secret) =>
      JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ [name]: secret, c: 'open' }) }), z: 'zed' }),
    open: ['{"a":"{'],
  },
  'a list of headers': {
    secret: any,
    text: (_, secret) => JSON.stringify({ rawHeaders: ['Host', 'shop', 'Cookie', secret, 'Accept', '*/*'], z: 'zed' }),
    open: ['"Host","shop"'],
  },
  'an inspected object': {
    secret: any,
    text: (name, secret) => inspect({ user: 'ada', [name]: secret, port: 1, o: { [`x${name}`]: [secret] }, z: 'zed' }),
    open: ["user: 'ada'"],
  },
  'an inspected object of several lines': {
    secret: (characters) => `${any(characters)}\n${any(characters)}`.repeat(5),
    text: (name, secret) => inspect({ user: 'ada', [name]: secret, z: 'zed' }),
    open: ["user: 'ada'", "z: 'zed'"],
  },
  'a query': {
    secret: (characters) => encodeURIComponent(any(characters)),
    text: (name, secret) => `GET https://shop.example/?page=2&${encodeURIComponent(name)}=${secret}&sort=up: 404`,
    open: ['GET https://shop.example/?page=2&', '&sort=up: 404'],
  },
  'a fragment': {
    secret: plain,
    text: (_, secret) => `to https://shop.example/#access_token=${secret}&state=1`,
    open: ['to https://shop.example/#', '&state=1'],
  },
  'an escaped address': {
    secret: oneWord,
    text: (name, secret) =>
      `/?next=${encodeURIComponent(`/a?${oneName(name)}=${encodeURIComponent(secret)}&b=1`)}&sort=up`,
    open: ['/?next=', '&sort=up'],
  },
  'an address': {
    secret: oneWord,
    text: (_, secret) => `connect to postgres://ada:${secret}@db.example:5432/shop failed`,
    open: ['connect to postgres://', '@db.example:5432/shop failed'],
  },
  'an address in JSON': {
    secret: oneWord,
    text: (_, secret) => JSON.stringify({ url: `amqp://ada:${encodeURI(secret)}@mq/`, z: 'zed' }),
    open: ['@mq/', '"z":"zed"'],
  },
  'an address with a token for its user': {
    secret: plain,
    text: (_, secret) => `git clone https://${secret}@git.example/a.git (128)`,
    open: ['git clone https://', '@git.example/a.git (128)'],
  },
  'an attribute': {
    secret: plain,
    text: (name, secret) => `<user name="ada" ${oneName(name)}="${secret}" age="7"/>`,
    open: ['<user name="ada"', 'age="7"/>'],
  },
  'an element': {
    secret: (characters) => any(characters.replace(/[<>&]/g, '')),
    text: (name, secret) =>
      `<a><b>open</b><ns:${oneName(name)} x="1">\n<v>${secret}</v>\n</ns:${oneName(name)}><c>zed</c></a>`,
    open: ['<b>open</b>', '<c>zed</c></a>'],
  },
  'a field of HTML': {
    secret: plain,
    text: (name, secret) => `<p>open</p><input type="hidden" name="${oneName(name)}" value="${secret}"><p>zed</p>`,
    open: ['<p>open</p>', '<p>zed</p>'],
  },
  'a bearer token': {
    secret: plain,
    text: (_, secret) => `refused Bearer ${secret} of ada`,
    open: ['refused Bearer ', ' of ada'],
  },
  'a basic login': {
    secret: () => base64('ada:hunter-2'),
    text: (_, secret) => `refused Basic ${secret} of ada`,
    open: ['refused Basic ', ' of ada'],
  },
  'a digest': {
    secret: plain,
    text: (_, secret) => `refused\nDigest username="ada", nonce="1",\n response="${secret}"\nhost: x`,
    open: ['refused\nDigest ', '\nhost: x'],
  },
  'a signature': {
    secret: plain,
    text: (_, secret) => `sent AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=${secret}\nhost: x`,
    open: ['sent AWS4-HMAC-SHA256 ', '\nhost: x'],
  },
  'a password that is typed': {
    secret: oneWord,
    text: (_, secret) => `ada\nPassword:\n${secret.replace(/[:=]/g, '')}\nhost: x`,
    open: ['ada\n', '\nhost: x'],
  },
  'a web token': {
    secret: () => web,
    text: (_, secret) => `expired: ${secret} of ada`,
    open: ['expired: ', ' of ada'],
  },
  'a private key': {
    secret: plain,
    text: (_, secret) => `read -----BEGIN RSA PRIVATE KEY-----\nMII\n${secret}\n-----END RSA PRIVATE KEY-----\nhost: x`,
    open: ['read ', '\nhost: x'],
  },
  'a literal of GraphQL': {
    secret: any,
    text: (_, secret) => `mutation { login(name: "ada", password: ${JSON.stringify(secret)}, age: 7) { id } }`,
    open: ['mutation { login(name: "ada", password: '],
  },
}

/** Pieces of a secret: what is shown of one may be less than all of it. */
const pieces = (secret: string) => secret.match(/hunt|ter-two|words|ter\b|hunter/g) ?? [secret]
const characters = '#/@?:;,&=+%!$*()[]{}<>|\\\'"`~^'.split('')

describe.each(Object.entries(structures))('in %s', (_kind, { secret, text, open }) => {
  const next = random(7)
  const some = () => Array.from({ length: next(4) }, () => characters[next(characters.length)]).join('')
  const cases = Array.from({ length: isLong ? 300 : 75 }, () => ({
    name: names[next(names.length)]!,
    secret: secret(some()),
  }))

  test('a secret is hidden, and what is around it is shown', () => {
    const faults: unknown[] = []
    for (const one of cases) {
      const given = text(one.name, one.secret)
      const shown = redactText(given)
      const visible = pieces(one.secret).filter((piece) => shown.includes(piece))
      const hidden = open.filter((piece) => !shown.includes(piece))
      const isDone = redactText(shown) === shown
      if (visible.length > 0 || hidden.length > 0 || !isDone) faults.push({ given, shown, visible, hidden, isDone })
    }
    expect(faults).toEqual([])
  })

  test('no beginning of the text shows it', () => {
    const faults: unknown[] = []
    for (const one of cases.slice(0, isLong ? 10 : 3)) {
      const whole = text(one.name, one.secret)
      const first = whole.indexOf(one.secret.slice(0, 4))
      for (let end = first + 4; end < whole.length; end += 3) {
        const shown = redactText(cutText(`${'x '.repeat(200)}${whole}`, 400 + end))
        const visible = pieces(one.secret).filter((piece) => shown.includes(piece))
        if (visible.length > 0) faults.push({ given: whole.slice(0, end), shown, visible })
      }
    }
    expect(faults).toEqual([])
  })
})

test.each([
  'GET http://localhost:3000/users/a@b.example?page=2: 404',
  'inspector at http://127.0.0.1:3000.',
  'fetched https://registry.example/@scope/kit@1.2.0 from https://[::1]:80/x@y',
  'Error: boom\n    at handle (file:///srv/token.ts:10:5)\n    at next (node:internal/x:1:2)',
  'the bearer of bad news: Bearer token is missing, Bearer realm="api", Basic authentication is required',
  'a basic plan with the digest of Monday, at joe@shop.example',
  'jsonwebtoken, tokens: 5, secretary: ada, 12 passwords were changed, tokenCount=7',
  'query login($password: String!, $token: ID) { login(password: $password, token: $token) { id } }',
  "{ token: undefined, user: 'ada', password: null }",
  '{"password":null,"token":"","a":true}',
  'v1.2.3 of www.heyJoe.example, 10.0.0.1',
  '<p class="token">open</p> <a href="/x">y</a> 1 < 2 > 0',
  'x = y == z ? a : b; // see foo: bar@baz',
])('text without a secret stays: %s', (text) => {
  expect(redactText(text)).toBe(text)
})

test('a name without a value does not take the next line for it, except one that has no name', () => {
  expect(redactText('x-api-key:\nhost: x')).toBe('x-api-key:\nhost: x')
  expect(redactText('invalid token:\n    at handle (x.js:1:2)')).toBe('invalid token:\n    at handle (x.js:1:2)')
  expect(redactText('Password:\nhunter\nhost: x')).not.toContain('hunter')
  expect(redactText('password:\n  - hunter\nhost: x')).toMatch(/^password:\[redacted\]\nhost: x$/)
})

test('what comes after a quoted value stays if the value has no escapes', () => {
  const json = JSON.stringify({ user: 'ada', token: "hunter's two words", port: 1 })
  expect(redactText(json)).toBe('{"user":"ada","token":[redacted],"port":1}')
  expect(redactText(JSON.stringify({ json: JSON.stringify({ token: 'hunter', port: 1 }) }))).toBe(
    '{"json":"{\\"token\\":[redacted],\\"port\\":1}"}',
  )
  expect(redactText('login(password: "hunter", age: 7) { id }')).toBe('login(password: [redacted], age: 7) { id }')
})

test('JSON of several lines is hidden to its end where it is not indented, and a stack after a line stays', () => {
  expect(redactText('{"cookies":{\n"sid":"hunter"},\n"z":"zed"}')).toBe('{"cookies":[redacted]')
  expect(redactText('{\n"token":\n"hun\nter"\n}')).not.toMatch(/hun|ter/)
  const stack = '\n    at handle (x.js:1:2)'
  expect(redactText(`invalid {"tokens":1,"cookies":["hunter"]}${stack}`)).toBe(
    `invalid {"tokens":1,"cookies":[redacted]${stack}`,
  )
})

test('text is cut before a word that is incomplete', () => {
  expect(cutText('see https://ada:hunter@db and more', 20)).toBe('see …')
  expect(cutText('short', 20)).toBe('short')
  expect(cutText('x'.repeat(600), 500)).toBe(`${'x'.repeat(500)}…`)
})

// With work that grows with the square of the length, one of them would take longer than a test may.
test.each([
  'eyJ-',
  'eyJaaaaaaaa.',
  'eyJaaaaaaaa',
  'a://',
  'a:/',
  'a://b:c ',
  'a://b:1/',
  'a://b@c/',
  'bearer ',
  'basic abcd',
  'digest a=',
  'token',
  'token:',
  'token="',
  "token:'x' y='\n",
  '"token":["',
  '"token":[{(',
  '"token":"\\',
  '\\\\\\"token\\\\\\":\\\\\\"x',
  '<token ',
  '<token>',
  '<token><a>',
  'a.',
  'a'.repeat(99),
  ' ',
  '\n',
  '"',
  '\\',
  '[',
  '?token=',
  '%22token%22%3a',
  '-----BEGIN PRIVATE KEY-----',
  'token:\n ',
  '"cookie",',
])('the work on a long text grows with its length: %j', (one) => {
  for (const end of isLong ? ['', 'x', '\n@'] : ['', '\n@']) {
    const text = one.repeat(150_000 / one.length) + end
    expect(redactText(text).length).toBeLessThan(20 * text.length)
  }
})

test('members of the log that go together are hidden: pairs, and lists of headers', () => {
  expect(
    redact({
      rawHeaders: ['Host', 'x', 'Cookie', 'hunter'],
      pairs: [['authorization', 'hunter']],
      fields: [
        { name: 'password', value: 'hunter' },
        { name: 'user', value: 'ada' },
      ],
      cookies: { sid: 'hunter' },
    }),
  ).toEqual({
    rawHeaders: ['Host', 'x', 'Cookie', '[redacted]'],
    pairs: [['authorization', '[redacted]']],
    fields: [
      { name: 'password', value: '[redacted]' },
      { name: 'user', value: 'ada' },
    ],
    cookies: '[redacted]',
  })
})
