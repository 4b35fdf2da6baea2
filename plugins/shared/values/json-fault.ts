/** The tokens that are possible at a place in a JSON text, for messages. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end'

const named: Readonly<Record<Expected, string>> = {
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
const quoted = /"(?:[ !#-[\]-\uFFFF]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
/** The valid beginning of a string. */
const quotedPart = /"(?:[ !#-[\]-\uFFFF]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * The place at which a text stops being a JSON object, and what is expected there; `undefined` if it is one.
 *
 * The messages of the runtimes' parsers differ, some lack the place, and they quote the text, which may be a secret.
 */
export function jsonFault(text: string): string | undefined {
  let at = 0
  const skip = (expression: RegExp) => {
    expression.lastIndex = at
    if (!expression.test(text)) return false
    at = expression.lastIndex
    return true
  }
  const fault = (what: string) => {
    const lines = text.slice(0, at).split(/\r?\n/)
    return `line ${lines.length}, column ${lines.at(-1)!.length + 1}, where ${what} is expected`
  }
  const faultInText = () => {
    skip(quotedPart)
    return fault(text[at] === '\\' ? 'a JSON escape sequence' : 'the closing double quote')
  }

  /** The open brackets. */
  const open: string[] = []
  const following = (): Expected => (open.length === 0 ? 'end' : open.at(-1) === '{' ? ', or }' : ', or ]')
  skip(blank)
  if (text[at] !== '{') return fault('"{"')
  let expected: Expected = 'value'
  for (;;) {
    skip(blank)
    const found = text[at]
    if (expected === 'end') return found === undefined ? undefined : fault(named.end)
    if ((found === '}' && expected.endsWith('}')) || (found === ']' && expected.endsWith(']'))) {
      open.pop()
      at++
      expected = following()
    } else if (expected.startsWith(',') || expected === ':') {
      if (found !== expected[0]) return fault(named[expected])
      at++
      expected = expected === ', or }' ? 'name' : 'value'
    } else if (expected.startsWith('name')) {
      if (found !== '"') return fault(named[expected])
      if (!skip(quoted)) return faultInText()
      expected = ':'
    } else if (found === '{' || found === '[') {
      open.push(found)
      at++
      expected = found === '{' ? 'name or }' : 'value or ]'
    } else if (found === '"') {
      if (!skip(quoted)) return faultInText()
      expected = following()
    } else if (skip(plain)) {
      expected = following()
    } else return fault(named[expected])
  }
}
