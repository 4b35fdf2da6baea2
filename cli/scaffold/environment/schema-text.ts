import { fromTemplate } from '../template.ts'
import type { Variable } from './variables.ts'

/** A `src/env.ts` with these lines in its schema. */
export const envModule = (lines: readonly string[]): string =>
  fromTemplate('env.ts', { lines: lines.map((line) => `  ${line}`).join('\n') })

export const declaration = ({ name, type }: Variable, schema = 'schema'): string => `${name}: ${schema}.${type},`

/** `(schema) => ({`, with or without a type. */
const opening = /\(?\s*\b([A-Za-z_$][\w$]*)\s*(?::\s*\w+\s*)?\)?\s*=>\s*\(\s*\{/

/** The module with the variables that its schema lacks; `undefined` if its schema is not recognised. */
export function withDeclarations(text: string, variables: readonly Variable[]): string | undefined {
  const found = opening.exec(text)
  if (found === null || !/\bexport\s+const\s+env\b/.test(text)) return undefined
  const start = found.index + found[0].length
  const { end, last } = endOf(text, start)
  if (end === undefined) return undefined
  const body = text.slice(start, end)
  const missing = variables.filter(({ name }) => !new RegExp(`(^|[\\s{,'"])${name}['"]?\\s*:`).test(body))
  if (missing.length === 0) return text
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const indent = /^[^\S\r\n]*/.exec(text.slice(text.lastIndexOf('\n', end) + 1))![0]
  const comma = last < start || text[last] === ',' ? '' : ','
  const at = Math.max(last + 1, start)
  // Text after the last member, such as a comment, stays there.
  const rest = text.slice(at, end).trimEnd()
  const lines = missing.map((variable) => `${newline}${indent}  ${declaration(variable, found[1])}`).join('')
  return text.slice(0, at) + comma + rest + lines + newline + indent + text.slice(end)
}

/** The end of the open bracket, and the last character before it that is neither a blank nor in a comment. */
function endOf(text: string, start: number): { readonly end: number | undefined; readonly last: number } {
  const skipped = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|\s+/y
  const literal = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/y
  let depth = 1
  let last = start - 1
  for (let at = start; at < text.length; ) {
    skipped.lastIndex = at
    literal.lastIndex = at
    if (skipped.test(text)) at = skipped.lastIndex
    else {
      const length = literal.test(text) ? literal.lastIndex - at : 1
      if ('({['.includes(text[at]!)) depth++
      else if (')}]'.includes(text[at]!) && --depth === 0) return { end: at, last }
      last = at + length - 1
      at += length
    }
  }
  return { end: undefined, last }
}
