/** Types joined by `|`, each once. */
export function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  if (different.includes('unknown')) return 'unknown'
  const possible = different.filter((type) => type !== 'never')
  if (possible.length === 0) return 'never'
  return possible.length === 1 ? possible[0]! : possible.map(grouped).join(' | ')
}

/** Types joined by `&`, each once; `unknown` adds nothing. */
export function intersection(types: readonly string[]): string {
  const telling = [...new Set(types)].filter((type) => type !== 'unknown')
  if (telling.length === 0) return 'unknown'
  return telling.length === 1 ? telling[0]! : telling.map(grouped).join(' & ')
}

/** In parentheses where what stands around would tear it apart. */
export function grouped(type: string): string {
  return isCompound(type) ? `(${type})` : type
}

/** Whether a type has an operator outside of every bracket and string. */
function isCompound(type: string): boolean {
  if (type.startsWith('readonly ')) return true
  let open = 0
  for (let at = 0; at < type.length; at++) {
    const char = type[at]!
    if (char === "'") {
      for (at++; type[at] !== "'"; at++) if (type[at] === '\\') at++
    } else if (char === '/' && type[at + 1] === '*') at = type.indexOf('*/', at) + 1
    else if ('{[('.includes(char)) open++
    else if ('}])'.includes(char)) open--
    else if (open === 0 && (char === '|' || char === '&')) return true
  }
  return false
}
