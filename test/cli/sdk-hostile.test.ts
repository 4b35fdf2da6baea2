import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import type { ApiDocument } from '../../cli/sdk/document.ts'
import { generateClient } from '../../cli/sdk/generate.ts'
import { runTsc } from '../support/typescript.ts'

/** The same numbers for the same seed. */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const words = [
  ...[
    "'",
    '"',
    '`',
    '\\',
    "\\'",
    '\n',
    '\r\n',
    '\u2028',
    '\u2029',
    '\0',
    ['$', '{globalThis.pwned=1}'].join(''),
    '*/',
    '/*',
    '//',
  ],
  ...['*/ globalThis.pwned = 1 /*', "'; globalThis.pwned = 1; '", '@ts-expect-error', '@deprecated', '<!--', '-->'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'then', 'get', 'class', 'default', 'await', 'new', 'null'],
  ...['Client', 'createClient', 'Call', 'Response', 'Blob', 'Promise', 'Object', 'unknown', 'any', 'string', 'Input'],
  ...[
    'größe',
    '日本',
    '😀',
    '\ud800',
    '\udc00x',
    'e\u0301',
    '\u202e',
    '\ufeff',
    'a b',
    'a-b',
    'aB',
    'a.b',
    '1',
    '1.5',
    '-',
  ],
  ...[
    '..',
    '.',
    '%2e%2e',
    '%',
    '%zz',
    '{x',
    'x}',
    '{}',
    '$',
    '_',
    '~0',
    '~1',
    '#',
    '?',
    '',
    ' ',
    '/',
    '[',
    '](',
    '@import',
  ],
]

function makeDocument(seed: number): ApiDocument {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!
  const many = <T>(most: number, make: () => T): T[] => Array.from({ length: Math.floor(next() * (most + 1)) }, make)
  const word = () => (next() < 0.7 ? pick(words) : pick(words) + pick(words))
  const components = many(6, word)
  const ref = () =>
    next() < 0.8 && components.length > 0
      ? `#/components/schemas/${encodeURIComponent(
          pick(components)
            .replace(/[\ud800-\udfff]/g, '')
            .replaceAll('~', '~0')
            .replaceAll('/', '~1'),
        )}`
      : pick([
          '#/components/schemas/none',
          '#/paths',
          '#',
          'http://a.test/b',
          '#/components/schemas/constructor',
          word(),
        ])
  const entries = <T>(most: number, make: () => T) => Object.fromEntries(many(most, () => [word(), make()] as const))
  const schema = (depth = 0): unknown => {
    if (depth > 3 || next() < 0.1) return pick<unknown>([true, false, {}, { $ref: ref() }, { type: 'string' }])
    const below = () => schema(depth + 1)
    return pick<() => unknown>([
      () => ({
        type: pick(['string', 'integer', 'boolean', 'null', 'odd']),
        description: word() + word(),
        deprecated: next() < 0.3,
      }),
      () => ({ type: ['string', 'null', 'object'], properties: entries(2, below) }),
      () => ({ const: pick<unknown>([word(), 1, -0, Number.POSITIVE_INFINITY, null, [word()], { [word()]: word() }]) }),
      () => ({ enum: many(4, () => pick<unknown>([word(), next() * 1e9, false, null])) }),
      () => ({ type: 'array', items: below() }),
      () => ({
        type: 'array',
        prefixItems: many(3, below),
        minItems: Math.floor(next() * 3),
        items: pick([false, undefined, below()]),
      }),
      () => ({
        type: 'object',
        description: word(),
        properties: entries(4, () => (next() < 0.3 ? { type: 'string', default: word() } : below())),
        required: many(3, word),
        additionalProperties: pick([undefined, true, false, below()]),
        patternProperties: pick([undefined, { '^x': below() }]),
      }),
      () => ({ [pick(['allOf', 'anyOf', 'oneOf'])]: many(3, below), description: word() }),
      () => ({ $ref: ref(), description: word() }),
    ])()
  }
  const content = () =>
    Object.fromEntries(
      many(2, () => [
        pick([
          'application/json',
          'multipart/form-data',
          'application/x-www-form-urlencoded',
          'text/plain',
          'text/event-stream',
          'image/png',
          '*/*',
          word(),
        ]),
        { schema: schema() },
      ]),
    )
  const operation = (names: readonly string[]) => ({
    summary: pick([undefined, word()]),
    description: pick([undefined, `${word()}\n${word()}`]),
    deprecated: next() < 0.2,
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: schema(2), description: word() })),
      ...many(3, () => ({
        name: word(),
        in: pick(['query', 'header', 'cookie']),
        required: next() < 0.5,
        schema: schema(1),
        description: pick([undefined, word()]),
      })),
    ],
    ...(next() < 0.5 && { requestBody: { required: next() < 0.5, content: content() } }),
    responses: Object.fromEntries(
      many(4, () => [
        pick(['200', '201', '204', '404', '422', '299', '4XX', '2XX', '5xx', 'default', word()]),
        { description: word(), content: content() },
      ]),
    ),
  })
  const paths = many(8, () => {
    const names: string[] = []
    const segments = many(4, () => {
      const text = word().replaceAll('/', '')
      if (next() < 0.6) return text
      const name = text.replace(/[{}]/g, '') || 'p'
      names.push(name)
      return `{${name}}`
    })
    return [
      `/${segments.join('/')}`,
      Object.fromEntries(
        many(3, () => [pick(['get', 'post', 'put', 'delete', 'patch', 'x-odd', 'parameters2']), operation(names)]),
      ),
    ] as const
  })
  return {
    info: { title: word(), version: word() },
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(components.map((name) => [name, schema()])) },
  } as unknown as ApiDocument
}

const strict =
  '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --verbatimModuleSyntax --isolatedModules --isolatedDeclarations --declaration --skipLibCheck --target es2022 --module nodenext --lib es2023,dom,dom.iterable --types'

test('whatever is in a document, the client compiles, runs, and does nothing that the document says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'framework-sdk-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const files: string[] = []
    for (let seed = 1; seed <= 150; seed++) {
      const document = makeDocument(seed)
      const command = `framework generate-sdk --out '${words[seed % words.length]}'`
      const client = generateClient(document, { command })
      files.push(`seed${seed}.ts`)
      writeFileSync(join(folder, files.at(-1)!), client)
      const { code } = await transform(client, { loader: 'ts', format: 'esm' })
      const { createClient } = (await import(
        /* @vite-ignore */ `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
      )) as { createClient(): object }
      expect(Object.getPrototypeOf(createClient()), `seed ${seed}`).toBe(Object.prototype)
    }
    expect('pwned' in globalThis).toBe(false)
    const { output, errors } = runTsc([...strict.split(' '), '', ...files], folder)
    expect([...errors.values()].flat().slice(0, 10), output.slice(0, 2000)).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the order of a document does not matter', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, one]) => [name, reversed(one)] as const)
    return Object.fromEntries(entries.reverse())
  }
  for (let seed = 1; seed <= 50; seed++) {
    const document = makeDocument(seed)
    expect(generateClient(reversed(document) as ApiDocument), `seed ${seed}`).toBe(generateClient(document))
  }
})
