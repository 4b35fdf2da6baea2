import { expect, test } from 'vitest'
import { isSameCrash } from '../../cli/serve/protocol.ts'
import { reportTo } from '../../cli/serve/report.ts'

function reported() {
  const lines: string[] = []
  const plain = (_color: string, text: string) => text
  return { lines, report: reportTo((line) => void lines.push(line), plain, 'src/index.ts', '/app', false) }
}

test('why a version did not start commands no terminal', () => {
  const { lines, report } = reported()
  const hostile = 'no\u001b[2J\u009b1m\rsrc/index.ts is fine\u202e\nmore'
  report.notStarted(hostile, false)
  report.failed({ said: hostile, place: 'src/\u001b.ts:1:1' }, true)
  const said = 'no\\u001b[2J\\u009b1m\\u000dsrc/index.ts is fine\\u202e'
  expect(lines).toEqual([
    `src/index.ts did not start: ${said}; the next change starts a new attempt`,
    `src/index.ts did not start, as before: ${said} (src/\\u001b.ts:1:1); the previous version keeps serving; the next change starts a new attempt`,
  ])
})

test('an address is shown when it differs from the one before', () => {
  const { lines, report } = reported()
  const plugins = {
    name: 'root',
    ms: {},
    options: [],
    services: [],
    middlewares: [],
    hooks: [],
    routes: [],
    notes: [],
  }
  const at = (port: number) =>
    ({
      framework: 'listening',
      url: `http://localhost:${port}`,
      port,
      pages: [],
      plugins: { ...plugins, children: [] },
    }) as never
  report.serving(at(1), 5, undefined)
  report.serving(at(1), 6, ['/app/a.ts'])
  report.serving(at(2), 7, ['/app/a.ts'])
  expect(lines.slice(1)).toEqual([
    'http://localhost:1 (ready in 5 ms)',
    'restarted in 6 ms (a.ts)',
    'restarted in 7 ms (a.ts)',
    'http://localhost:2',
  ])
})

test('the same failure is the same words at the same place', () => {
  const crash = { said: 'Error: no', place: 'src/a.ts:1:1' }
  expect(isSameCrash(crash, { ...crash })).toBe(true)
  expect(
    [undefined, { said: 'Error: no' }, { ...crash, place: 'src/a.ts:2:1' }, { ...crash, said: 'Error' }].map((other) =>
      isSameCrash(crash, other),
    ),
  ).toEqual([false, false, false, false])
})
