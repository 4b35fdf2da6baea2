import { parseAst } from 'vitest/node'

/**
 * How a module names another: `value` survives compilation and runs at load, `dynamic` is an `import()` in code, `type`
 * is erased, `augment` is `declare module '…'`.
 */
export type ImportKind = 'value' | 'dynamic' | 'type' | 'augment'

export interface Import {
  specifier: string
  kind: ImportKind
  line: number
}

export interface ModuleFacts {
  imports: Import[]
  /** Lines of `export default` and of `export { x as default }`. */
  defaultExports: number[]
  /** Lines of code: neither blank nor of a comment alone. */
  lines: number
  functions: FunctionFacts[]
  /** Reads of the time and timers of the process; `systemClock`, where the clock of the machine is asked by name. */
  clocks: { what: string; line: number }[]
}

export interface FunctionFacts {
  line: number
  /** Lines of code, with those of the functions in it. */
  lines: number
  parameters: number
}

interface Node {
  type: string
  start: number
  [key: string]: unknown
}

/** The imports and exports of one TypeScript source, read from its syntax tree: comments and strings do not count. */
export function readModule(source: string): ModuleFacts {
  const facts: ModuleFacts = { imports: [], defaultExports: [], lines: countCode(source), functions: [], clocks: [] }
  const lineOf = (node: Node) => countLines(source.slice(0, node.start + 1))
  visit(parseAst(source, { lang: 'ts' }), (node) => {
    const found = importOf(node)
    if (found) facts.imports.push({ ...found, line: lineOf(node) })
    if (isDefaultExport(node)) facts.defaultExports.push(lineOf(node))
    const clock = clockOf(node)
    if (clock !== undefined) facts.clocks.push({ what: clock, line: lineOf(node) })
    if (isFunction(node))
      facts.functions.push({
        line: lineOf(node),
        lines: countCode(source.slice(node.start, node.end as number)),
        parameters: ((node.params as { items?: unknown[] } & unknown[]) ?? []).length,
      })
  })
  return facts
}

function importOf(node: Node): { specifier: string; kind: ImportKind } | undefined {
  switch (node.type) {
    // With verbatim module syntax `import { type A } from 'x'` still loads x: only `import type` is erased.
    case 'ImportDeclaration':
      return named(node.source, node.importKind === 'type' ? 'type' : 'value')
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return named(node.source, node.exportKind === 'type' ? 'type' : 'value')
    case 'ImportExpression':
      return named(node.source, 'dynamic')
    case 'TSImportType':
      return named(node.source ?? node.argument, 'type')
    case 'TSModuleDeclaration':
      return named(node.id, 'augment')
    case 'TSImportEqualsDeclaration':
      return named((node.moduleReference as Node).expression, node.importKind === 'type' ? 'type' : 'value')
    case 'CallExpression':
      return isRequire(node.callee) ? named((node.arguments as unknown[])[0], 'value') : undefined
    default:
      return undefined
  }
}

const clockCalls = new Set(['Date.now', 'performance.now', 'AbortSignal.timeout', 'setTimeout', 'setInterval'])

/** How a node asks the process for the time, or to wait. */
function clockOf(node: Node): string | undefined {
  if (node.type === 'Identifier' && node.name === 'systemClock') return 'systemClock'
  if (node.type === 'NewExpression' && isNode(node.callee) && node.callee.name === 'Date')
    return (node.arguments as unknown[]).length === 0 ? 'new Date()' : undefined
  if (
    node.type === 'ImportSpecifier' &&
    isNode(node.imported) &&
    /^set(Timeout|Interval)$/.test(String(node.imported.name))
  )
    return String(node.imported.name)
  const { object, property, callee } = node
  let name = ''
  if (isNode(object) && isNode(property)) name = `${String(object.name)}.${String(property.name)}`
  if (node.type === 'CallExpression' && isNode(callee) && callee.type === 'Identifier') name = String(callee.name)
  return clockCalls.has(name) ? name : undefined
}

/** A function with a body; a signature in a type has none. */
const isFunction = ({ type, body }: Node) =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type) && isNode(body)

function named(source: unknown, kind: ImportKind): { specifier: string; kind: ImportKind } | undefined {
  if (!isNode(source)) return undefined
  if (source.type === 'TSLiteralType') return named(source.literal, kind)
  if (source.type === 'Literal' && typeof source.value === 'string') return { specifier: source.value, kind }
  if (source.type === 'TemplateLiteral') {
    const quasis = source.quasis as { value: { cooked: string } }[]
    if (quasis.length === 1) return { specifier: quasis[0]!.value.cooked, kind }
  }
  return undefined
}

function isRequire(callee: unknown): boolean {
  if (!isNode(callee)) return false
  if (callee.type === 'Identifier') return callee.name === 'require'
  // createRequire(import.meta.url)('x')
  return callee.type === 'CallExpression' && isNode(callee.callee) && callee.callee.name === 'createRequire'
}

function isDefaultExport(node: Node): boolean {
  if (node.type === 'ExportDefaultDeclaration') return true
  if (node.type !== 'ExportSpecifier') return false
  return (node.exported as { name?: string }).name === 'default'
}

function visit(node: unknown, on: (node: Node) => void): void {
  if (Array.isArray(node)) {
    for (const item of node) visit(item, on)
    return
  }
  if (typeof node !== 'object' || node === null) return
  if (isNode(node)) on(node)
  for (const child of Object.values(node)) if (typeof child === 'object') visit(child, on)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** A last line without a line feed counts as well, as in editors. */
function countLines(source: string): number {
  if (source === '') return 0
  const breaks = source.split('\n').length - 1
  return source.endsWith('\n') ? breaks : breaks + 1
}

function countCode(source: string): number {
  return source.split('\n').filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length
}
