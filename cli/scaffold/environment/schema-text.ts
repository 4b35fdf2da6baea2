import { fromTemplate } from '../template.ts'
import type { Variable } from './variables.ts'

/** A `src/env.ts` with these lines in its schema. */
export const envModule = (lines: readonly string[]): string =>
  fromTemplate('env.ts', { lines: lines.map((line) => `  ${line}`).join('\n') })

export const declaration = ({ name, type }: Variable, schema = 'schema'): string => `${name}: ${schema}.${type},`

/** `export const env = createEnvSchema((schema) => ({`, with or without types. */
const opening =
  /\bexport\s+const\s+env\s*(?::[^=]+)?=\s*createEnvSchema\(\s*\(?\s*([A-Za-z_$][\w$]*)\s*(?::\s*\w+\s*)?\)?\s*=>\s*\(\s*\{/

/** The module with the variables that its schema lacks; `undefined` if its schema is not recognised. */
export function withDeclarations(text: string, variables: readonly Variable[]): string | undefined {
  const code = codeOf(text)
  const found = opening.exec(code)
  if (found === null) return undefined
  const start = found.index + found[0].length
  const end = endOf(code, start)
  // After a slash that is left, which may begin a regular expression, quotes and brackets may not be what they seem.
  if (!/^\}\s*\)/.test(code.slice(end)) || code.slice(0, end).includes('/')) return undefined
  const body = code.slice(start, end)
  const missing = variables.filter(({ name }) => !new RegExp(`(^|[\\s{,'"])${name}['"]?\\s*:`).test(body))
  if (missing.length === 0) return text
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const indent = /^[^\S\r\n]*/.exec(text.slice(text.lastIndexOf('\n', end) + 1))![0]
  const members = body.trimEnd()
  const at = start + members.length
  // Text after the last member, such as a comment, stays there.
  const rest = (/[^,]$/.test(members) ? ',' : '') + text.slice(at, end).trimEnd()
  const lines = missing.map((variable) => `${newline}${indent}  ${declaration(variable, found[1])}`).join('')
  return text.slice(0, at) + rest + lines + newline + indent + text.slice(end)
}

/** The text with blanks in place of its comments, and of the punctuation in its literals: every place is the same as in the text. */
const codeOf = (text: string) =>
  text.replaceAll(/\/\/[^\n]*|\/\*.*?\*\/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/gs, (one) =>
    one.replaceAll(one.startsWith('/') ? /./g : /[^\w'"`]/g, ' '),
  )

/** The end of the bracket that is open at the start. */
function endOf(code: string, start: number): number {
  let depth = 1
  for (let at = start; at < code.length; at++) {
    if ('({['.includes(code[at]!)) depth++
    else if (')}]'.includes(code[at]!) && --depth === 0) return at
  }
  return code.length
}
