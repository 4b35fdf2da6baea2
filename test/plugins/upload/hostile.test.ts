import { readdirSync } from 'node:fs'
import type { Server } from 'framework'
import { afterEach, describe, expect, test } from 'vitest'
import { quickest } from '../../support/quickest.ts'
import { type Form, file, makeUploads, multipart } from '../../support/uploads.ts'

const { makeServer, makeFolder } = makeUploads(afterEach)
const send = (server: Server, { body, type }: Form) =>
  server.inject.post('/upload', { body, headers: { 'content-type': type } })

const disposition = (parameters: string, more = '') =>
  `Content-Disposition: form-data; ${parameters}\r\n${more}\r\ncontent`
const form = multipart(file('f', 'f.txt', 'content'))
const text = form.body.toString('latin1')
const withBody = (body: string): Form => ({ body: Buffer.from(body, 'latin1'), type: form.type })

const failures: unknown[] = []
process.on('uncaughtException', (error) => failures.push(error))
process.on('unhandledRejection', (error) => failures.push(error))

// BO-08. Several of these were uncaught exceptions in multer: CVE-2025-47944 and CVE-2025-7338 (malformed forms),
// CVE-2025-48997 (an empty field name).
describe('a malformed form is 400 or 413 within 100 ms, leaves nothing and ends nothing', () => {
  const cases: Record<string, [Form, ...number[]]> = {
    'an empty field name': [multipart(disposition('name=""')), 400],
    'an empty field name of a file': [multipart(disposition('name=""; filename="x"')), 400],
    'no field name': [multipart(disposition('filename="x"')), 400],
    'no boundary': [{ ...form, type: 'multipart/form-data' }, 400],
    'no value of the boundary': [{ ...form, type: 'multipart/form-data; boundary=' }, 400],
    'an empty boundary': [{ ...form, type: 'multipart/form-data; boundary=""' }, 400],
    'two boundaries': [{ ...form, type: `${form.type}; boundary=other` }, 400],
    'a wrong boundary': [{ ...form, type: 'multipart/form-data; boundary=other' }, 400],
    'a boundary of 71': [{ ...form, type: `multipart/form-data; boundary=${'b'.repeat(71)}` }, 400],
    'a boundary of 5000': [{ ...form, type: `multipart/form-data; boundary=${'b'.repeat(5000)}` }, 400],
    'a boundary that cannot be one': [{ ...form, type: 'multipart/form-data; boundary="a\\"b"' }, 400],
    'a boundary that ends with a blank': [{ ...form, type: 'multipart/form-data; boundary="ab "' }, 400],
    'a trailing comma': [{ ...form, type: `${form.type}, text/plain` }, 400],
    'no closing boundary': [withBody(text.replace('--x-boundary-x--\r\n', '')), 400],
    'an end in the content': [withBody(text.slice(0, text.indexOf('content') + 3)), 400],
    'an end in a header': [withBody(text.slice(0, 40)), 400],
    'an end in the boundary': [withBody('--x-bou'), 400],
    'no boundary in the body': [withBody('just text'), 400],
    'a line break only': [withBody('\r\n'), 400],
    'parts without headers': [multipart('\r\ncontent'), 400],
    'parts without anything': [multipart('', ''), 400],
    'a header without a name': [multipart(': form-data; name="a"\r\n\r\nx'), 400],
    'a bare line feed in a header': [multipart('Content-Disposition: form-data;\n name="a"\r\n\r\nx'), 400],
    'another disposition': [multipart('Content-Disposition: attachment; name="a"\r\n\r\nx'), 400],
    'two dispositions': [multipart(`Content-Disposition: form-data; name="b"\r\n${disposition('name="a"')}`), 400],
    'two names': [multipart(disposition('name="a"; name="b"')), 400],
    'an open quote': [multipart(disposition('name="a')), 400],
    'garbage after a name': [multipart(disposition('name="a"garbage')), 400],
    'a name that is not UTF-8': [multipart(disposition('name="\xff\xfe"')), 400],
    'a field that is not UTF-8': [multipart({ name: 'a', body: '\xff\xfe' }), 400],
    'a form in a form': [multipart(disposition('name="a"', 'Content-Type: multipart/mixed; boundary=y\r\n')), 400],
    'another charset': [multipart(disposition('name="a"', 'Content-Type: text/plain; charset=utf-7\r\n')), 415],
    'a transfer encoding': [multipart(disposition('name="a"', 'Content-Transfer-Encoding: base64\r\n')), 415],
    // @fastify/multipart CVE-2023-25576: parts without a limit.
    '10 000 fields': [multipart(...Array.from({ length: 10_000 }, (_, i) => ({ name: `f${i}`, body: '' }))), 413],
    '10 000 files': [multipart(...Array.from({ length: 10_000 }, (_, i) => file(`f${i}`, 'f', ''))), 413],
    '10 000 empty parts': [multipart(...Array.from({ length: 10_000 }, () => '')), 400],
    'a header of a megabyte': [multipart(`X-Junk: ${'x'.repeat(1024 ** 2)}\r\n${disposition('name="a"')}`), 400, 413],
    'a header of a megabyte without a name': [
      multipart(`${'x'.repeat(1024 ** 2)}\r\n${disposition('name="a"')}`),
      400,
      413,
    ],
    'a name of a megabyte': [multipart(disposition(`name="${'x'.repeat(1024 ** 2)}"`)), 400, 413],
    'a header of a megabyte that is junk after its first line': [
      multipart(`Content-Disposition: form-data; name="a"\r\n${'x'.repeat(1024 ** 2)}\r\n\r\nx`),
      400,
      413,
    ],
    '100 000 header lines': [multipart(`${'a: b\r\n'.repeat(100_000)}${disposition('name="a"')}`), 400, 413],
    'a header without an end': [
      withBody(`--x-boundary-x\r\nContent-Disposition: form-data; ${'x'.repeat(1024 ** 2)}`),
      400,
    ],
    'a preamble of eleven megabytes': [withBody('x'.repeat(11 * 1024 ** 2)), 413],
    'boundaries only': [withBody('--x-boundary-x\r\n'.repeat(100_000)), 400],
    'boundaries after the last': [withBody(`${text.repeat(3)}${text}`), 200, 400],
  }
  for (const [what, [hostile, ...statuses]] of Object.entries(cases)) {
    test(what, async () => {
      const folder = makeFolder()
      const { server, seen } = makeServer({ storage: 'disk', folder })
      await send(server, multipart())
      const runs = seen.runs
      const { result: res, ms } = await quickest(() => send(server, hostile), 5, 100)
      expect(statuses).toContain(res.statusCode())
      if (res.statusCode() !== 200) expect(seen.runs).toBe(runs)
      expect(ms).toBeLessThan(100)
      await expect
        .poll(() => readdirSync(folder, { recursive: true }).filter((name) => String(name).includes('/')))
        .toEqual([])
      ;(await send(server, form)).assertStatus(200)
      expect(failures).toEqual([])
    })
  }

  test('a boundary of 70 characters, quoted ones with blanks, are fine', async () => {
    const { server, seen } = makeServer()
    for (const boundary of ['b'.repeat(70), "a b'()+_,-./:=?c", '----WebKitFormBoundaryABC', '=_=']) {
      const bare = /^[\w=-]+$/.test(boundary)
      for (const written of bare ? [boundary, `"${boundary}"`] : [`"${boundary}"`]) {
        const body = Buffer.from(text.replaceAll('x-boundary-x', boundary))
        ;(await send(server, { body, type: `Multipart/Form-Data;charset=utf-8 ; BOUNDARY=${written}` })).assertStatus(
          200,
        )
        expect(seen.files).toHaveLength(1)
      }
    }
  })
})

describe('random input', () => {
  test('every single byte of a form replaced: never more than a refusal', async () => {
    const { server } = makeServer()
    const bytes = [0, 10, 13, 34, 45, 58, 92, 255]
    for (let at = 0; at < form.body.length; at++) {
      for (const byte of bytes) {
        const body = Buffer.from(form.body)
        body[at] = byte
        const status = (await send(server, { ...form, body })).statusCode()
        expect([200, 400, 413, 415], `byte ${at} = ${byte}`).toContain(status)
      }
    }
    expect(failures).toEqual([])
  })

  test('every length of a form: only the whole one is taken', async () => {
    const { server } = makeServer()
    const whole = text.lastIndexOf('--') + 2
    for (let length = 1; length <= text.length; length++) {
      const status = (await send(server, withBody(text.slice(0, length)))).statusCode()
      expect(status, `${length} bytes`).toBe(length >= whole ? 200 : 400)
    }
    expect(failures).toEqual([])
  })

  test('every way of cutting a form in two reads the same', async () => {
    const { server, seen } = makeServer()
    for (let cut = 1; cut < form.body.length; cut++) {
      async function* halves() {
        yield form.body.subarray(0, cut)
        yield form.body.subarray(cut)
      }
      await server.inject.post('/upload', { body: halves(), headers: { 'content-type': form.type } })
      expect(seen.files[0]?.bytes().toString(), `cut at ${cut}`).toBe('content')
    }
  })
})

describe('file names', () => {
  const utf8 = (name: string) => Buffer.from(name).toString('latin1')
  test.each<[string, string]>([
    ['filename="../../x"', 'x'],
    ['filename="/etc/passwd"', 'passwd'],
    ['filename="C:\\temp\\x.txt"', 'x.txt'],
    ['filename="C:\\\\temp\\\\x.txt"', 'x.txt'],
    ['filename="..\\..\\x"', 'x'],
    ['filename=".."', 'unnamed'],
    ['filename="a/.."', 'unnamed'],
    ['filename="a/"', 'unnamed'],
    ['filename="a\0b.txt"', 'ab.txt'],
    ['filename="x.php\0.png"', 'x.php.png'],
    ['filename="%22quoted%22.txt"', '"quoted".txt'],
    ['filename="a\\"b.txt"', 'a"b.txt'],
    ['filename="line%0D%0Abreak"', 'linebreak'],
    ['filename="..%2F..%2Fx"', '..%2F..%2Fx'],
    ['filename=bare.txt', 'bare.txt'],
    ['FileName="case.txt"', 'case.txt'],
    [`filename="${utf8('naïve – ünïcode.txt')}"`, 'naïve – ünïcode.txt'],
    [`filename="${utf8('gpj.\u202etxt')}"`, 'gpj.txt'],
    ['filename="fallback"; filename*=UTF-8\'\'na%C3%AFve.txt', 'naïve.txt'],
    ["filename*=utf-8'en'..%2F..%2Fx", 'x'],
    ["filename*=UTF-8''a%00b", 'ab'],
    [`filename="${'x'.repeat(300)}.tar"`, `${'x'.repeat(251)}.tar`],
    [`filename="${utf8('é'.repeat(300))}"`, 'é'.repeat(127)],
    [`filename="a.${'x'.repeat(300)}"`, `a.${'x'.repeat(253)}`],
  ])('%s', async (parameter, name) => {
    const { server, seen } = makeServer()
    const res = await send(server, multipart(disposition(`name="f"; ${parameter}`)))
    res.assertStatus(200)
    expect(seen.files.map(({ filename }) => filename)).toEqual([name])
  })

  test.each([
    "filename*=UTF-8''%zz",
    "filename*=UTF-8''%ff",
    "filename*=iso-8859-1''a",
    'filename*=junk',
    'filename="a"; filename="b"',
  ])('%s is 400', async (parameter) => {
    const { server } = makeServer()
    ;(await send(server, multipart(disposition(`name="f"; ${parameter}`)))).assertStatus(400)
  })

  test.each([
    ['Image/PNG', 'image/png'],
    ['text/html; charset=x', 'text/html'],
    ['<script>', 'application/octet-stream'],
    ['', 'application/octet-stream'],
    [undefined, 'application/octet-stream'],
    ['multipart/related; boundary=x', 'multipart/related'],
  ])('the type %s is %s', async (given, expected) => {
    const { server, seen } = makeServer()
    const header = given === undefined ? '' : `Content-Type: ${given}\r\n`
    await send(server, multipart(disposition('name="f"; filename="f"', header)))
    expect(seen.files[0]!.mimeType).toBe(expected)
  })

  // multiparty CVE-2026-8159: quadratic time in the file name.
  test('that are made to be slow are not', async () => {
    const { server } = makeServer()
    for (const evil of [
      '\\'.repeat(15_000),
      '"'.repeat(15_000),
      'a;'.repeat(7_000),
      ' '.repeat(15_000),
      '\\"'.repeat(7_500),
    ]) {
      const { result: res, ms } = await quickest(
        () => send(server, multipart(disposition(`name="f"; filename="${evil}`))),
        5,
        50,
      )
      expect(res.statusCode()).toBe(400)
      expect(ms).toBeLessThan(50)
    }
  })

  test('content types that are made to be slow are not', async () => {
    const { server } = makeServer()
    for (const evil of [
      ';'.repeat(15_000),
      ' ;'.repeat(7_000),
      ';a=b'.repeat(4_000),
      '; boundary'.repeat(1_500),
      '\t'.repeat(15_000),
    ]) {
      const { result: res, ms } = await quickest(
        () => send(server, { ...form, type: `multipart/form-data${evil}` }),
        5,
        50,
      )
      res.assertStatus(400)
      expect(ms).toBeLessThan(50)
    }
  })
})
