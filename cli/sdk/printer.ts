/**
 * Everything from a document that gets into code goes through one of these functions: names and descriptions come from the authors
 * of the routes, and none of them may end a string or a comment.
 */

/** A string literal in single quotes. */
export const text = (value: string): string =>
  `'${json(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** A string literal in double quotes, without the controls and line breaks that JSON allows in it. */
export const json = (value: string): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The name of a member of a type. Only ASCII needs no quotes: compilers support different parts of Unicode. */
export const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name))

/** A type that has exactly one JSON value. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number'
  if (value === null || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `readonly [${value.map(literal).join(', ')}]`
  if (typeof value !== 'object') return 'unknown'
  const members = Object.entries(value).map(([name, member]) => `readonly ${key(name)}: ${literal(member)}`)
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join('; ')} }`
}

/** A doc comment followed by a line break, or nothing. */
export function comment(lines: readonly (string | undefined)[], indent: string): string {
  const written = lines
    .flatMap((line) => (line === undefined ? [] : line.trim().split(/\r\n|[\n\r\u2028\u2029]/)))
    .map((line) => line.trimEnd())
  while (written.at(-1) === '') written.pop()
  if (written.length === 0) return ''
  const only = written.length === 1 ? written[0] : undefined
  if (only !== undefined) return `${indent}/** ${harmless(only)} */\n`
  return `${indent}/**\n${written.map((line) => `${indent} * ${harmless(line)}`.trimEnd()).join('\n')}\n${indent} */\n`
}

/** The generator's own tags, such as `@deprecated`, which are the only ones in a comment. */
export const tags = { deprecated: '\u0000deprecated' } as const

function harmless(line: string): string {
  if (line === tags.deprecated) return '@deprecated'
  // `@ts-expect-error` at the beginning of a line is an instruction to the compiler, even in comments of this form.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they do not belong in a source file
  const plain = line.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, ' ').replace(/^(\s*)@/, '$1\\@')
  return plain.replaceAll('*/', '*\\/')
}

/** Types joined by `|`, each once. */
export function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  if (different.includes('unknown')) return 'unknown'
  const possible = different.filter((type) => type !== 'never')
  if (possible.length === 0) return 'never'
  return possible.map((type) => (possible.length > 1 && has('&', type) ? `(${type})` : type)).join(' | ')
}

/** Types joined by `&`, each once; `unknown` adds nothing. */
export function intersection(types: readonly string[]): string {
  const narrowing = [...new Set(types)].filter((type) => type !== 'unknown')
  if (narrowing.length === 0) return 'unknown'
  return narrowing.map((type) => (narrowing.length > 1 && has('|', type) ? `(${type})` : type)).join(' & ')
}

/** A type, in parentheses if a following `[]` or `?` would otherwise apply to a part of it. */
export const grouped = (type: string): string =>
  type.startsWith('readonly ') || has('|', type) || has('&', type) ? `(${type})` : type

/** Whether a type has an operator outside all brackets, strings and comments. */
function has(operator: '|' | '&', type: string): boolean {
  let open = 0
  for (let at = 0; at < type.length; at++) {
    const char = type[at]!
    if (char === "'") {
      for (at++; type[at] !== "'"; at++) if (type[at] === '\\') at++
    } else if (char === '/' && type[at + 1] === '*') at = type.indexOf('*/', at) + 1
    else if ('{[('.includes(char)) open++
    else if ('}])'.includes(char)) open--
    else if (open === 0 && char === operator) return true
  }
  return false
}
