import '../installed.mjs'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** TypeScript 5, a package of the site: the native compiler has no API. */
export const ts = createRequire(import.meta.url)('typescript')

/** Returns the entry points of the package: each module by its specifier. */
function readEntryPoints() {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entryPoints = new Map()
  for (const [key, target] of Object.entries(exports)) {
    const file = target?.types?.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts')
    const parts = file?.includes('*') ? readdirSync(join(root, file.slice(0, file.indexOf('*')))) : ['']
    for (const part of file === undefined ? [] : parts) {
      const [subpath, path] = [key.replace('*', part), file.replace('*', part)]
      if (exports[subpath] !== null && existsSync(join(root, path)))
        entryPoints.set(name + subpath.slice(1), join(root, path))
    }
  }
  return entryPoints
}

/** The files that the compiler reads, and the texts of those that are in no folder: more of them are added later. */
const files = []
const texts = new Map()
let service

/** Opens files as an editor does, with the texts of those that no folder has. What is open already is not read again, which takes seconds. */
export function open(more, unsaved = new Map()) {
  files.push(...more.filter((file) => !files.includes(file)))
  for (const [file, text] of unsaved) texts.set(file, text)
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, { ...ts.sys, readDirectory: () => [] }, root)
  const read = (file) => texts.get(file) ?? ts.sys.readFile(file)
  service ??= ts.createLanguageService({
    ...ts.sys,
    fileExists: (file) => texts.has(file) || ts.sys.fileExists(file),
    readFile: read,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getScriptFileNames: () => files,
    getScriptVersion: () => '1',
    getScriptSnapshot(file) {
      const text = read(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  })
  return service
}

/** Reads the sources and their symbols. */
export function readSources() {
  const entryPoints = readEntryPoints()
  const program = open([...entryPoints.values()]).getProgram()
  const checker = program.getTypeChecker()
  const real = (symbol) => (symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
  const exportsOf = (module) => checker.getExportsOfModule(module)
  /** Every exported symbol, with the specifier and the name of each of its exports. */
  const exported = new Map()
  for (const [specifier, file] of entryPoints) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file))
    for (const one of module === undefined ? [] : exportsOf(module)) {
      const doorsOf = exported.get(real(one)) ?? []
      const isType = one.declarations?.every((node) => node.isTypeOnly || node.parent?.parent?.isTypeOnly) ?? false
      exported.set(real(one), [...doorsOf, { specifier, name: one.name, isType }])
    }
  }
  const { InTypeAlias, NoTruncation, UseAliasDefinedOutsideCurrentScope } = ts.TypeFormatFlags
  const format = InTypeAlias | NoTruncation | UseAliasDefinedOutsideCurrentScope
  return {
    exported,
    files: program.getSourceFiles().filter(({ isDeclarationFile }) => !isDeclarationFile),
    exportsOf: (module) => exportsOf(module).map(real),
    symbolAt: (node) => real(checker.getSymbolAtLocation(node)),
    typeText: (node) => checker.typeToString(checker.getTypeAtLocation(node), node, format).replaceAll('"', "'"),
    resultText: (node) => checker.typeToString(checker.getSignatureFromDeclaration(node).getReturnType(), node, format),
  }
}

/** Returns the place of a node: `kernel/options.ts`, line 14. */
export function placeOf(node) {
  const source = node.getSourceFile()
  const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
  return { file: relative(root, source.fileName).replaceAll('\\', '/'), line }
}

export function childrenOf(node) {
  const children = []
  ts.forEachChild(node, (child) => void children.push(child))
  return children
}
