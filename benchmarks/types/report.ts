import { median, spread } from '../support/statistics.ts'
import { decimals, percent, section } from '../support/table.ts'
import { type Mistake, mistakes } from './application.ts'
import type { Compilation, Compiler } from './compiler.ts'
import { compilers } from './compiler.ts'
import type { Waits } from './editor.ts'
import { versionOf } from './workspace.ts'

/** The results of one server or client, by the version of TypeScript. */
export interface Measured {
  readonly name: string
  readonly by: readonly {
    readonly compiler: Compiler
    readonly bare: Compilation | undefined
    readonly compilations: readonly Compilation[]
    readonly waits: readonly Waits[]
  }[]
}

/** The compiler's result for each mistake; an `undeclared` mistake contradicts nothing in the code. */
export interface Verdict {
  readonly name: string
  readonly found: Readonly<Record<Mistake, 'error' | 'missed' | 'undeclared'>>
}

const packages = [
  'fastify',
  'fastify-type-provider-zod',
  '@fastify/type-provider-typebox',
  '@fastify/type-provider-json-schema-to-ts',
  'hono',
  '@hono/zod-validator',
  'elysia',
  '@elysiajs/eden',
  '@trpc/server',
  '@orpc/server',
  'zod',
  '@sinclair/typebox',
  'typebox',
]

export const versions = (): string[] => [
  `TypeScript ${compilers.map((one) => versionOf(one.package)).join(' and ')}, Node ${process.version}`,
  `${packages.map((name) => `${name} ${versionOf(name)}`).join(', ')}, @fastify/type-provider-typebox ${versionOf('fastify-type-provider-typebox-legacy')} for TypeBox 0.34`,
]

const seconds = decimals(2)
const whole = decimals(0)
const thousands = (value: number) => whole(value / 1000)

const titles = {
  servers: {
    compile: 'An application of 300 routes, compiled',
    compileNote:
      'By `tsc`; instantiations and types in thousands. “Without routes” is the same server with no route in it.',
    editor: 'An application of 300 routes, in the editor',
    editorNote:
      'A completion after `req.body.` in the last handler, in ms: from the start of the language server, and after an edit.',
  },
  clients: {
    compile: 'A client of 20 of the 300 routes, compiled',
    compileNote: 'By `tsc`, with what the client imports: for all but the generated one the sources of the server.',
    editor: 'A client of 20 of the 300 routes, in the editor',
    editorNote: 'A completion on the client object, in ms: from the start of the language server, and after an edit.',
  },
}

function compileTables(kind: keyof typeof titles, measured: readonly Measured[]): string {
  const { compile, compileNote } = titles[kind]
  const header = [
    '',
    'instantiations',
    ...(kind === 'servers' ? ['without routes'] : []),
    'types',
    'check, s',
    'IQR',
    'MB',
  ]
  return compilers
    .map((compiler, i) => {
      const rows = measured.map(({ name, by }) => {
        const { compilations, bare } = by[i]!
        const of = (figure: (one: Compilation) => number) => median(compilations.map(figure))
        return [
          name,
          thousands(of((one) => one.instantiations)),
          ...(bare ? [thousands(bare.instantiations)] : []),
          thousands(of((one) => one.types)),
          seconds(of((one) => one.check)),
          percent(spread(compilations.map((one) => one.check))),
          whole(of((one) => one.memory)),
        ]
      })
      return section(`${compile} by TypeScript ${compiler.name}`, compileNote, header, rows)
    })
    .join('\n')
}

function editorTable(kind: keyof typeof titles, measured: readonly Measured[]): string {
  const { editor, editorNote } = titles[kind]
  const header = ['', ...compilers.flatMap(({ name }) => [`first, ${name}`, `after an edit, ${name}`, 'IQR'])]
  const rows = measured.map(({ name, by }) => [
    name,
    ...by.flatMap(({ waits }) => {
      const edits = waits.flatMap((one) => one.edits)
      return [whole(median(waits.map(({ first }) => first))), whole(median(edits)), percent(spread(edits))]
    }),
  ])
  return section(editor, editorNote, header, rows)
}

export const report = (kind: keyof typeof titles, measured: readonly Measured[]) =>
  `${compileTables(kind, measured)}\n${editorTable(kind, measured)}`

const words = { error: 'error', missed: '**missed**', undeclared: '–' }

export function mistakesReport(verdicts: readonly Verdict[]): string {
  const note =
    'A POST with one thing wrong in it. “–”: nothing is declared there that the mistake could contradict, or there is no such form.'
  const rows = verdicts.map(({ name, found }) => [name, ...mistakes.map((mistake) => words[found[mistake]])])
  return section('Mistakes that the compiler finds', note, ['', ...mistakes], rows)
}
