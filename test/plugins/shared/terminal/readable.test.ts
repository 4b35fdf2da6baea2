import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { defineError } from '../../../../kernel/index.ts'
import { describeError } from '../../../../plugins/shared/logging/logger.ts'
import { saidBy, thrownOf } from '../../../../plugins/shared/terminal/error-lines.ts'
import { setLogForm, textFor } from '../../../../plugins/shared/terminal/form.ts'
import { failureText, ReadableLines } from '../../../../plugins/shared/terminal/lines.ts'
import { paintFor } from '../../../../plugins/shared/terminal/paint.ts'
import { moveSystemClock } from '../../../support/system-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'framework-readable-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  vi.unstubAllEnvs()
})

const plain = (_color: string, text: string) => text
const at = new Date(2026, 0, 5, 9, 4, 7).getTime()

/** What becomes of entries, with the time left out. */
function written(entries: readonly object[], { hasRequests = true } = {}) {
  const texts: string[] = []
  const lines = new ReadableLines((text) => texts.push(text), plain, { hasRequests })
  for (const entry of entries)
    lines.write(`${JSON.stringify({ level: 30, time: at, pid: 1, hostname: 'h', ...entry })}\n`)
  return { lines, texts, text: () => texts.join('').replaceAll('09:04:07 ', '') }
}

const request = { reqId: 'a-1', method: 'GET', path: '/books', status: 200, ms: 1.234, msg: 'request' }
const err = { type: 'TypeError', message: 'no', stack: 'TypeError: no\n    at x (node:fs:1:1)' }

describe('lines of a log for people', () => {
  test('a request is one line', () => {
    expect(written([request]).texts).toEqual(['09:04:07 GET    /books 200 1.2 ms\n'])
    expect(
      written([
        { ...request, method: 'DELETE', ms: 45.678 },
        { ...request, ms: 2345 },
      ]).text(),
    ).toBe('DELETE /books 200 46 ms\nGET    /books 200 2.3 s\n')
  })

  test('the status has its colour on a terminal', () => {
    const colorOf = (status: number) => {
      const texts: string[] = []
      const paint = (color: string, text: string) => (text === String(status) ? color : text)
      new ReadableLines((text) => texts.push(text), paint, { hasRequests: true }).write(
        JSON.stringify({ ...request, status }),
      )
      return /books (\w+)/.exec(texts[0]!)?.[1]
    }
    expect([200, 304, 404, 500].map(colorOf)).toEqual(['green', 'cyan', 'yellow', 'red'])
  })

  test('another entry is its message, with its level and its other members', () => {
    const entries = [
      { msg: 'imported', jobs: 3, from: { a: [1] } },
      { level: 40, msg: 'slow' },
      { level: 50, msg: 'two\nlines' },
    ]
    expect(written(entries).text()).toBe('imported jobs=3 from={"a":[1]}\nwarn slow\nerror two\n         lines\n')
  })

  test('a failure is below the line of its request, which comes later', () => {
    const failed = {
      level: 50,
      reqId: 'a-1',
      err,
      msg: 'GET /books failed with TypeError: no. Register the plugin cookie',
    }
    const own = { level: 50, reqId: 'a-1', err, msg: 'the payment failed' }
    const { texts, text } = written([failed, { msg: 'between' }, own, { ...request, status: 500 }])
    expect(texts).toHaveLength(2)
    expect(text()).toBe(
      [
        'between',
        'GET    /books 500 1.2 ms',
        '         TypeError: no',
        '         Register the plugin cookie',
        'error the payment failed',
        '         TypeError: no',
        '',
      ].join('\n'),
    )
  })

  test('a failure whose request is never answered is not lost', async () => {
    const time = moveSystemClock()
    onTestFinished(() => time.restore())
    const failed = { level: 50, reqId: 'a-1', err, msg: 'GET /books failed with TypeError: no' }
    const { texts, lines, text } = written([failed])
    expect(texts).toEqual([])
    await time.advance(1_000)
    expect(text()).toBe('error GET /books failed\n         TypeError: no\n')
    lines.flush()
    expect(texts).toHaveLength(1)
    const other = written([failed])
    other.lines.flush()
    expect(other.text()).toBe(text())
    // Where no requests are logged, nothing is waited for.
    expect(written([failed], { hasRequests: false }).text()).toBe(text())
  })

  test('nothing that comes in forges a line or commands a terminal', () => {
    const text = written([
      { ...request, path: '/\u001b[2J\u009b1m\n09:04:07 GET' },
      { msg: '\u001b]0;x\u0007\rover\u202e', name: '\u001b' },
      { msg: 'a', more: 'x\ny\u001b' },
    ]).text()
    for (const char of ['\u001b', '\u0007', '\u009b', '\r', '\u202e']) expect(text).not.toContain(char)
    expect(text.split('\n')).toHaveLength(4)
    expect(text).toContain('\\u001b]0;x\\u0007\\u000dover\\u202e')
  })

  test('a line that is not an entry is written as it is', () => {
    const texts: string[] = []
    const lines = new ReadableLines((text) => texts.push(text), plain, { hasRequests: true })
    for (const line of ['not JSON\n', '5\n', 'null\n', '[]\n']) lines.write(line)
    expect(texts).toEqual(['not JSON\n', '5\n', 'null\n', '[]\n'])
  })
})

describe('a failure for people', () => {
  const file = join(folder, 'shop.ts')
  writeFileSync(file, "import x from 'x'\n\n\tthrow new Error('no')\n")
  const copy = join(folder, 'shop (copy 1).ts')
  writeFileSync(copy, 'copied\n')
  const stack = (message: string, ...frames: string[]) =>
    Object.assign(new Error(message), { stack: [`Error: ${message}`, ...frames].map((l) => `${l}`).join('\n    at ') })
  const foreign = ['f (/app/node_modules/x/index.js:1:1)', 'processTicks (node:internal/process:1:1)']

  test('has the first place of the application, with the lines around it, and its caller', () => {
    const text = failureText(
      stack('no', ...foreign, `async sell (file://${file}?v=2:3:2)`, `Object.<anonymous> (${file}:1:1)`, ...foreign),
      plain,
    )
    expect(text.split('\n')).toEqual([
      'Error: no',
      `  sell ${file}:3:2`,
      "    1 │ import x from 'x'",
      '    2 │ ',
      "  > 3 │ \tthrow new Error('no')",
      '      │ \t^',
      `  at ${file}:1:1`,
    ])
  })

  test('of the framework and of packages there is no frame, unless there is no other', () => {
    const own = new URL('../../../../dist/chunks/kernel.js', import.meta.url).pathname
    expect(failureText(stack('no', `run (${own}:5:1)`, ...foreign, `here (${file}:3:8)`), plain)).not.toMatch(
      /dist|modules/,
    )
    expect(failureText(stack('no', ...foreign), plain).split('\n')).toEqual(['Error: no', `  at ${foreign[0]}`])
    vi.stubEnv('DEBUG', '1')
    expect(failureText(stack('no', `here (${file}:3:8)`, ...foreign), plain)).toContain('node:internal')
  })

  test('of an error of the framework it is the place that its message names, and nothing of the framework', () => {
    const own = new URL('../../../../kernel/kernel.ts', import.meta.url).pathname
    const RouteError = defineError('RouteError', 500, (what: string) => what)
    const error = (message: string, ...frames: string[]) =>
      Object.assign(RouteError(message), { stack: [`RouteError: ${message}`, ...frames].join('\n    at ') })
    const named = error(`GET / (registered at ${file}:3:8) is wrong`, `boot (${own}:1:1)`, `start (${file}:1:1)`)
    expect(failureText(named, plain).split('\n')[1]).toBe(`  ${file}:3:8`)
    expect(failureText(named, plain)).toContain(`\n  at start ${file}:1:1`)
    const twice = error(`GET / is registered twice: at ${copy}:1:1 and at ${file}:3:8. See the routes at /api.`)
    expect(failureText(twice, plain)).toContain(`\n  ${copy}:1:1\n  > 1 │ copied\n      │ ^\n  at ${file}:3:8\n`)
    expect(failureText(error('the port is taken', `listen (${own}:1:1)`), plain)).toBe(
      'RouteError: the port is taken\nExplained by: npm run framework -- docs RouteError',
    )
  })

  test('a message chooses no file whose lines are shown', () => {
    const hidden = join(folder, '.env')
    writeFileSync(hidden, 'SECRET=1\n')
    const texts = [hidden, file].flatMap((path) => [
      `x\n    at go (${path}:1:1)`,
      `look at ${path}:1:1`,
      `file://${path}:1\nx\nError`,
      `x\ncaused by: Error: y\n    at go (${path}:1:1)`,
    ])
    const Refused = defineError('RefusedError', 400, (what: string) => what)
    const linesOf = (error: unknown) => {
      const entry = JSON.stringify({ level: 50, err: describeError(error, true), msg: 'no' })
      const written: string[] = []
      new ReadableLines((text) => written.push(text), plain, { hasRequests: false }).write(entry)
      return failureText(error, plain) + written.join('')
    }
    for (const text of texts) {
      const renamed = Object.assign(new Error(text), { message: 'another', stack: `Error: ${text}` })
      const nameless = Object.assign(new Error(text), { name: '', stack: text })
      const appended = new Error('outer')
      appended.stack += `\nInner: ${text}`
      for (const error of [
        new Error(text),
        new Error('x', { cause: new Error(text) }),
        Refused(text),
        renamed,
        nameless,
        text,
      ])
        expect(linesOf(error)).not.toMatch(/SECRET|import x/)
      expect(linesOf(appended)).not.toMatch(/SECRET|import x/)
    }
    // A stack does not show a file that is not a source or not regular either.
    expect(linesOf(stack('no', `here (${hidden}:1:1)`, 'x (/dev/zero:1:1)'))).not.toContain('SECRET')
    const pipe = join(folder, 'pipe.ts')
    execFileSync('mkfifo', [pipe])
    expect(linesOf(stack('no', `here (${pipe}:1:1)`))).not.toContain('│')
  })

  test('of an entry of the log it is the same as of the error', () => {
    const inner = stack('inner', `here (${file}:3:8)`)
    const error = Object.assign(stack('outer', `there (${file}:1:1)`), { cause: inner })
    const lines = written([{ level: 50, err: describeError(error, true), msg: 'no' }])
      .text()
      .split('\n')
      .slice(1, -1)
    expect(lines.map((line) => line.slice(9))).toEqual(failureText(error, plain).split('\n'))
  })

  test('a short message that is a part of the name is found, and an empty one leaves the name', () => {
    expect(failureText(new TypeError('r'), plain)).toMatch(/^TypeError: r\n/)
    expect(failureText(new TypeError(''), plain)).toMatch(/^TypeError:?\n {2}.*readable\.test\.ts/)
  })

  test('a syntax error begins with its place', () => {
    const error = new SyntaxError('no export y')
    const code = "import { y } from 'x'\n         ^\n"
    error.stack = `${pathToFileURL(copy)}:1\n${code}\nSyntaxError: no export y\n    at x (node:a:1:1)`
    expect(failureText(error, plain)).toBe(`SyntaxError: no export y\n  ${copy}:1\n  > 1 │ copied`)
  })

  test('causes and the errors of an AggregateError are shown, each place once', () => {
    const inner = stack('inner', `here (${file}:3:8)`)
    const outer = Object.assign(stack('outer', `here (${file}:3:8)`), { cause: inner })
    const text = failureText(outer, plain)
    expect(text).toMatch(/^Error: outer\n {2}here .*\ncaused by: Error: inner$/s)
    expect(text.match(/throw new/g)).toHaveLength(1)
    expect(saidBy(thrownOf(new AggregateError([inner, inner], 'all')))).toBe(
      'AggregateError: all\nError: inner\nError: inner',
    )
    const circle = new Error('round')
    circle.cause = circle
    expect(saidBy(thrownOf(circle)).split('\n')).toHaveLength(6)
  })

  test('a file that is not there, or is shorter by now, has no lines', () => {
    expect(failureText(stack('no', `${file}:99:1`), plain)).toBe(`Error: no\n  ${file}:99:1`)
    expect(failureText(stack('no', `/nowhere/a.ts:1:1`), plain)).toBe('Error: no\n  /nowhere/a.ts:1:1')
    expect(failureText('a text', plain)).toBe('a text')
    expect(failureText({ a: 1 }, plain)).toBe('{ a: 1 }')
  })
})

describe('the form', () => {
  const mark = Symbol.for('framework.log.form')
  afterEach(() => Reflect.deleteProperty(globalThis, mark))

  test('is JSON, unless a development server says otherwise', () => {
    vi.stubEnv('NODE_ENV', 'development')
    // Neither is a terminal here.
    expect(textFor(1)).toBeUndefined()
    setLogForm('text')
    expect(textFor(1)).toBeDefined()
    setLogForm('json')
    expect(textFor(1)).toBeUndefined()
  })

  test('has colours on a terminal, and as NO_COLOR and FORCE_COLOR say', () => {
    const red = (isTerminal: boolean) => paintFor(isTerminal)('red', 'x')
    for (const name of ['NO_COLOR', 'FORCE_COLOR', 'TERM']) vi.stubEnv(name, '')
    expect([red(true), red(false)]).toEqual(['\x1b[31mx\x1b[0m', 'x'])
    vi.stubEnv('TERM', 'dumb')
    expect(red(true)).toBe('x')
    vi.stubEnv('FORCE_COLOR', '1')
    expect(red(false)).toBe('\x1b[31mx\x1b[0m')
    vi.stubEnv('NO_COLOR', '1')
    expect(red(true)).toBe('x')
  })
})
