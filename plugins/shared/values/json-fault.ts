/** The tokens that are possible at a place in a JSON text, for messages. */
type Expected = '{' | 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end'

const named: Readonly<Record<Expected, string>> = {
  '{': '"{"',
  value: 'a value',
  'value or ]': 'a value or "]"',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or "}"',
  ':': '":"',
  ', or }': '"," or "}"',
  ', or ]': '"," or "]"',
  end: 'the end of the file',
}

const blank = /[ \t\n\r]*/y
// Matched one after the other: as a repeated group, they would need memory for each part of a long string.
const partOfString = /[ !#-[\]-\uFFFF]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Where a text stops being JSON. */
export interface JsonFault {
  /** For example `line 2, column 5`. */
  readonly place: string
  readonly isAtEnd: boolean
  /** What would be valid there: `"," or "}"`. */
  readonly expected: string
}

/**
 * The place at which a text stops being JSON, which must begin as `start` says; `undefined` if it is JSON.
 *
 * The messages of the runtimes' parsers differ, some lack the place, and they quote the text, which may be a secret.
 */
export function jsonFault(text: string, start: '{' | 'value' = 'value'): JsonFault | undefined {
  let at = 0
  const skip = (expression: RegExp) => {
    expression.lastIndex = at
    if (!expression.test(text)) return false
    at = expression.lastIndex
    return true
  }
  /** Skips a string; returns what is missing in it. */
  const skipString = () => {
    at++
    while (skip(partOfString));
    if (text[at] !== '"') return text[at] === '\\' ? 'a JSON escape sequence' : 'the closing double quote'
    at++
    return undefined
  }

  /** The open brackets. */
  const open: string[] = []
  const following = (): Expected => (open.length === 0 ? 'end' : open.at(-1) === '{' ? ', or }' : ', or ]')
  let expected = start as Expected
  /** Takes the next token; returns what is missing instead of it. */
  const take = (char: string): string | undefined => {
    const isName = expected.startsWith('name')
    if (char === expected.at(-1) && '}]'.includes(char)) {
      open.pop()
      at++
      expected = following()
    } else if (expected.startsWith(',') || expected === ':') {
      if (char !== expected[0]) return named[expected]
      at++
      expected = expected === ', or }' ? 'name' : 'value'
    } else if (char === '"' && expected !== '{' && expected !== 'end') {
      const missing = skipString()
      if (missing !== undefined) return missing
      expected = isName ? ':' : following()
    } else if (isName || expected === 'end') return named[expected]
    else if (char === '{' || (char === '[' && expected !== '{')) {
      open.push(char)
      at++
      expected = char === '{' ? 'name or }' : 'value or ]'
    } else if (expected !== '{' && skip(plain)) expected = following()
    else return named[expected]
    return undefined
  }

  for (;;) {
    // An expression takes longer than the token after it.
    if (text.charCodeAt(at) <= 32) skip(blank)
    if (at === text.length && expected === 'end') return undefined
    const missing = take(text.charAt(at))
    if (missing === undefined) continue
    const lines = text.slice(0, at).split('\n')
    const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
    return { place, isAtEnd: at >= text.length, expected: missing }
  }
}
