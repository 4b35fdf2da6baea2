import { expect, test } from 'vitest'
import { resultOf, runtimeKinds } from './targets.ts'

test.each(
  runtimeKinds.filter(({ adapter }) => adapter === undefined).map((target) => [target.name, target] as const),
)('the inspector on %s', async (_name, target) => {
  expect(await resultOf(target, 'inspector.mjs', [])).toEqual({
    refused: [401, 403, 403],
    error: ['call 1 of Dune', 'call 2 of Dune'],
    kinds: ['request', 'log', 'publish', 'attempt', 'log'],
    steps: ['helmet', 'json', 'handler'],
    body: { title: 'Dune', password: '[redacted]' },
    status: 500,
    shows: false,
    live: true,
    outgoing: ['GET /books/1?token=[redacted] 200 ok', 'GET /books/2 200 ok'],
    isWrapped: !target.runtime.startsWith('node'),
    isRestored: true,
    isOdd: true,
    panel: true,
  })
})
