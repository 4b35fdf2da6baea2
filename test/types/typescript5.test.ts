import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { toolScript } from '../runtimes/run.mjs'
import { expectMistakes, mistakeFiles } from '../support/mistakes.ts'
import { buildIfMissing } from '../support/package/tarball.ts'

// One session of the compiler of editors for everything that is asked of it; types.test.ts asks the other one.
const folder = join(import.meta.dirname, 'hovers')
const files = readdirSync(folder).filter((file) => file.endsWith('.ts'))
const mistakes = join(import.meta.dirname, 'mistakes')

interface Diagnostic {
  readonly file?: { getLineAndCharacterOfPosition(position: number): { readonly line: number } }
  readonly start?: number
  readonly messageText: string | object
}

/** What of the API of TypeScript 5 is used here; the native compiler has none. */
interface Compiler {
  readonly sys: { readFile(file: string): string | undefined }
  readConfigFile(file: string, read: Compiler['sys']['readFile']): { config: unknown }
  parseJsonConfigFileContent(config: unknown, system: object, folder: string): { options: object; fileNames: string[] }
  readonly ScriptSnapshot: { fromString(text: string): object }
  getDefaultLibFilePath(options: object): string
  createLanguageService(host: object): {
    getQuickInfoAtPosition(file: string, position: number): { displayParts: object[] } | undefined
    getSyntacticDiagnostics(file: string): Diagnostic[]
    getSemanticDiagnostics(file: string): Diagnostic[]
    getCompilerOptionsDiagnostics(): Diagnostic[]
  }
  flattenDiagnosticMessageText(text: Diagnostic['messageText'], newLine: string): string
  displayPartsToString(parts: object[]): string
}

let hover: (file: string, position: number) => string
/** The reports about a file, or about the options. */
let reportsOf: (file?: string) => { line: number; message: string }[]

beforeAll(() => {
  buildIfMissing()
  const typescript = createRequire(import.meta.url)(
    toolScript('typescript5').replace('tsc.js', 'typescript.js'),
  ) as Compiler
  const { sys } = typescript
  const { config } = typescript.readConfigFile(join(folder, 'tsconfig.json'), sys.readFile)
  const { options, fileNames } = typescript.parseJsonConfigFileContent(config, sys, folder)
  const service = typescript.createLanguageService({
    ...sys,
    useCaseSensitiveFileNames: () => true,
    getScriptFileNames: () => [...fileNames, ...mistakeFiles.map((file) => join(mistakes, file))],
    getScriptVersion: () => '1',
    getScriptSnapshot(file: string) {
      const text = sys.readFile(file)
      return text === undefined ? undefined : typescript.ScriptSnapshot.fromString(text)
    },
    getCompilationSettings: () => options,
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: typescript.getDefaultLibFilePath,
  })
  hover = (file, position) => {
    const parts = service.getQuickInfoAtPosition(file, position)?.displayParts ?? []
    return typescript.displayPartsToString(parts).replaceAll(/\s+/g, ' ')
  }
  reportsOf = (file) => {
    const found =
      file === undefined
        ? service.getCompilerOptionsDiagnostics()
        : [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)]
    return found.map(({ file: at, start, messageText }) => ({
      line: (at?.getLineAndCharacterOfPosition(start!).line ?? -1) + 1,
      message: typescript.flattenDiagnosticMessageText(messageText, '\n'),
    }))
  }
}, 60_000)

test.each(files)('an editor shows the intended type: %s', (name) => {
  const file = join(folder, name)
  const lines = readFileSync(file, 'utf8').split('\n')
  const shown: string[] = []
  const wanted: string[] = []
  let start = 0
  for (const [i, line] of lines.entries()) {
    const found = /^\s*\/\/ *\^ (?<words>.+)$/.exec(lines[i + 1] ?? '')
    if (found !== null) {
      wanted.push(found.groups!.words!)
      shown.push(hover(file, start + lines[i + 1]!.indexOf('^')))
    }
    start += line.length + 1
  }
  expect(wanted.length).toBeGreaterThan(0)
  expect(shown).toEqual(wanted)
})

test.each(mistakeFiles)('TypeScript 5.9 reports mistakes where they are: %s', (name) => {
  expectMistakes(name, reportsOf(join(mistakes, name)))
})

test('and nothing else', () => {
  expect([undefined, ...files.map((file) => join(folder, file))].flatMap((file) => reportsOf(file))).toEqual([])
})
