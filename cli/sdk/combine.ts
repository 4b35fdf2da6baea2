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
export function grouped(type: string): string {
  return type.startsWith('readonly ') || has('|', type) || has('&', type) ? `(${type})` : type
}

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
