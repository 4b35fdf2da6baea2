/** Everything else is quoted: YAML 1.1, which many readers implement, reads `no` as false, `1:30` as a number, and sometimes even `e1`. */
const plain = /^[A-Za-z/$][\w/$.{} -]*[\w/$}]$/
const words = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|e\d+)$/i

/** The maximum length of a key that is written before its colon; readers refuse longer ones. */
const longestKey = 1024

/** Plain data as YAML, in blocks. */
export function toYaml(value: unknown): string {
  const lines: string[] = []
  write(JSON.parse(JSON.stringify(value)), '', '', lines)
  return `${lines.join('\n')}\n`
}

/** Adds a value to the lines; its first line begins with `lead`, all others begin with `indent`. */
function write(value: unknown, lead: string, indent: string, lines: string[]): void {
  if (Array.isArray(value) && value.length > 0) {
    for (const [i, item] of value.entries()) write(item, `${i === 0 ? lead : indent}- `, `${indent}  `, lines)
    return
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    lines.push(`${lead}${typeof value === 'string' ? scalar(value) : JSON.stringify(value)}`)
    return
  }
  for (const [i, [key, member]] of Object.entries(value).entries()) {
    const text = scalar(key)
    let name = `${i === 0 ? lead : indent}${text}:`
    if (text.length > longestKey) {
      lines.push(`${i === 0 ? lead : indent}? ${text}`)
      name = `${indent}:`
    }
    const isBlock = typeof member === 'object' && member !== null && Object.keys(member).length > 0
    if (!isBlock) write(member, `${name} `, indent, lines)
    else {
      lines.push(name)
      write(member, `${indent}  `, `${indent}  `, lines)
    }
  }
}

function scalar(text: string): string {
  if (plain.test(text) && !words.test(text)) return text
  // A JSON string is valid YAML, except for characters that YAML treats as the end of a line or forbids.
  const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped)
}
