import { applicationLogger, type Logger, lineLogger } from 'framework/kernel'
import { expect, test } from 'vitest'
import { memoryLogger } from '../../../support/kernel.ts'

function written(make: (write: (line: string) => void) => Logger): string[] {
  const lines: string[] = []
  const logger = make((line) => void lines.push(line))
  for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](level)
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
}

test('the logger of a server without one writes from warn on; messages of application code from info on', () => {
  expect(written((write) => lineLogger(write))).toEqual(['warn', 'error'])
  expect(written((write) => lineLogger(write).child({ a: 1 }))).toEqual(['warn', 'error'])
  expect(written((write) => applicationLogger(lineLogger(write).child({ a: 1 })))).toEqual(['info', 'warn', 'error'])
  expect(written((write) => applicationLogger(lineLogger(write)).child({ a: 1 }))).toEqual(['info', 'warn', 'error'])
})

test('a level or a logger that was given holds for application code too', () => {
  expect(written((write) => applicationLogger(lineLogger(write, 'error')))).toEqual(['error'])
  expect(written((write) => applicationLogger(lineLogger(write, 'debug').child({})))).toHaveLength(4)
  const logger = memoryLogger()
  expect(applicationLogger(logger)).toBe(logger)
})

test('children keep the fields of their parents', () => {
  const lines: string[] = []
  const logger = lineLogger((line) => void lines.push(line)).child({ plugin: 'cron' })
  applicationLogger(logger).child({ job: 'a' }).info({ size: 5 }, 'done')
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, plugin: 'cron', job: 'a', size: 5, msg: 'done' })
})
