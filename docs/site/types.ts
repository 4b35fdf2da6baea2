import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { root } from './template.ts'

/** What an editor shows for the names of a file, by the offset of each name. */
export type Types = ReadonlyMap<number, { readonly length: number; readonly type: string }>

/** A longer type says nothing at a glance. */
const limit = 240

/** Reads the types of a file, by its path from the project's folder, as an editor does: this takes seconds. */
export function typesOf(file: string): Types {
  const path = join(root, file)
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root)
  // Reading the sources takes more than twice as long.
  if (existsSync(join(root, 'dist/index.d.ts'))) options.paths = { framework: ['./dist/index.d.ts'] }
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot(file) {
      const text = ts.sys.readFile(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  })
  const found = new Map<number, { length: number; type: string }>()
  const visit = (node: ts.Node) => {
    if (ts.isIdentifier(node)) {
      const start = node.getStart()
      const { displayParts } = service.getQuickInfoAtPosition(path, start) ?? {}
      const type = ts.displayPartsToString(displayParts).replaceAll(/\s+/g, ' ')
      if (type !== '' && type.length <= limit) found.set(start, { length: node.getWidth(), type })
    }
    ts.forEachChild(node, visit)
  }
  const source = service.getProgram()?.getSourceFile(path)
  if (source === undefined) throw new Error(`${file} has no types`)
  visit(source)
  return found
}
