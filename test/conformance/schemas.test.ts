import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { commandOf, targets } from './targets.ts'

const root = join(import.meta.dirname, '../..')

test.each(targets)('schemas of requests and answers: $name', async (target) => {
  const [command, ...args] = commandOf(target)
  const script = [join(import.meta.dirname, 'schemas.mjs'), ...(target.adapter === undefined ? [] : [target.adapter])]
  const { stdout } = await promisify(execFile)(command!, [...args, ...script], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  const [valid, invalid, one, coerced, mismatch] = JSON.parse(stdout) as [number, string][]
  expect(valid).toEqual([200, '{"title":"a","year":1,"at":"2024-01-01T00:00:00Z"}'])
  expect(invalid![0]).toBe(422)
  expect(JSON.parse(invalid![1])).toMatchObject({
    code: 'ValidationError',
    message: 'validation failed',
    errors: [
      { part: 'body', path: '/title', keyword: 'type' },
      { part: 'body', path: '/at', keyword: 'format' },
    ],
  })
  expect(one).toEqual([200, '{"title":"one"}'])
  expect(coerced![0]).toBe(422)
  expect(mismatch).toEqual([500, ''])
})
