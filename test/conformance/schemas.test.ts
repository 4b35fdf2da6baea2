import { expect, test } from 'vitest'
import { resultOf, runtimeKinds } from './targets.ts'

/** Status, and part, place and rule of the one thing that is wrong. */
function refusal([status, body]: [number, string] = [0, '{}']): unknown[] {
  const { errors = [] } = JSON.parse(body) as { errors?: { part: string; path: string; keyword: string }[] }
  return [status, ...errors.flatMap(({ part, path, keyword }) => [part, path, keyword])]
}

test.each(runtimeKinds)('schemas of requests and responses: $name', async (target) => {
  const own = target.adapter === undefined ? [] : [target.adapter]
  const answers = (await resultOf(target, 'schemas.mjs', own)) as [number, string][]
  const [valid, invalid, one, coerced, mismatch] = answers
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

  const [upper, missing, twice, text, listed, all, missingInAll, twiceInAll, twiceInQuery, odd, inherited, ...trees] =
    answers.slice(5)
  // Lines of one name are one text, joined by a comma: a list of one for a list, and no number.
  expect(upper).toEqual([200, '[5,["a, b"],"a"]'])
  expect(refusal(missing)).toEqual([422, 'headers', '/x-count', 'required'])
  expect(refusal(twice)).toEqual([422, 'headers', '/x-count', 'type'])
  expect(refusal(text)).toEqual([422, 'headers', '/x-count', 'type'])
  expect(refusal(listed)).toEqual([422, 'headers', '/x-mode', 'enum'])
  expect(all![0]).toBe(200)
  expect(JSON.parse(all![1])).toEqual({ 'X-Count': 5, 'x-tags': ['a, b'], 'x-mode': 'b' })
  expect(refusal(missingInAll)).toEqual([422, 'all', '/X-Count', 'required'])
  expect(refusal(twiceInAll)).toEqual([422, 'all', '/X-Count', 'type'])
  expect(refusal(twiceInQuery)).toEqual([422, 'all', '/X-Count', 'type'])
  expect(odd![0]).toBe(200)
  expect(Object.values(JSON.parse(odd![1]) as object)).toEqual(Object.keys(JSON.parse(odd![1]) as object))
  expect(odd![1]).not.toContain('secret')
  expect(refusal(inherited)).toEqual([422, 'body', '/constructor', 'required'])
  const [tree, wrongLeaf, endless] = trees
  expect(tree).toEqual([200, '{"id":"a","nodes":[{"id":"b","nodes":[{"id":"c"}]}]}'])
  expect(refusal(wrongLeaf)).toEqual([422, 'body', '/nodes/0/nodes/0/id', 'type'])
  expect(refusal(endless)).toEqual([422, 'body', '', 'effort'])
})
